/* 6.12.5: geometric functions. */
#include "geometric.h"

PRODUCTS(float)

float OVERLOAD scale_for(float magnitude)
{
    /* No more than needed: small components beside a large one must keep the bits that `normalize` leaves of them. */
    float scale = magnitude > 0x1p94f ? 0x1p-66f : magnitude > 0x1p62f ? 0x1p-33f : 1.0f;
    return magnitude < 0x1p-50f ? 0x1p110f : scale;
}
LENGTHS(float, INFINITY)

#define FAST_LENGTHS(n) \
    float OVERLOAD fast_length(float##n v) { return sqrt(dot(v, v)); } \
    float##n OVERLOAD fast_normalize(float##n v) \
    { \
        float square = dot(v, v); \
        return square == 0.0f ? v : v * (1.0f / sqrt(square)); \
    }
FAST_LENGTHS(2) FAST_LENGTHS(3) FAST_LENGTHS(4)
float OVERLOAD fast_length(float v) { return fabs(v); }
float OVERLOAD fast_normalize(float v) { return sign(v); }
#define FAST_DISTANCE(n) float OVERLOAD fast_distance(float##n a, float##n b) { return fast_length(a - b); }
FAST_DISTANCE() FAST_DISTANCE(2) FAST_DISTANCE(3) FAST_DISTANCE(4)
