/* 6.12.5: geometric functions. Lengths of what would overflow or vanish when squared are scaled by a power of two. */
#include "builtins.h"

float OVERLOAD dot(float a, float b) { return a * b; }
float OVERLOAD dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
float OVERLOAD dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
float OVERLOAD dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

float3 OVERLOAD cross(float3 a, float3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; }
float4 OVERLOAD cross(float4 a, float4 b) { return (float4)(cross(a.xyz, b.xyz), 0.0f); }

/* The largest magnitude among the components. */
#define LARGEST float OVERLOAD largest
LARGEST(float2 v) { return fmax(fabs(v.x), fabs(v.y)); }
LARGEST(float3 v) { return fmax(largest(v.xy), fabs(v.z)); }
LARGEST(float4 v) { return fmax(largest(v.xy), largest(v.zw)); }

/* 1, or what brings a number of that magnitude near it. */
float OVERLOAD scale_for(float magnitude)
{
    float scale = magnitude > 0x1p62f ? 0x1p-66f : 1.0f;
    return magnitude < 0x1p-50f ? 0x1p110f : scale;
}

#define LENGTHS(n) \
    float OVERLOAD length(float##n v) \
    { \
        float magnitude = largest(v), scale = scale_for(magnitude); \
        float##n scaled = v * scale; \
        float result = sqrt(dot(scaled, scaled)) / scale; \
        return isinf(magnitude) ? INFINITY : result; \
    } \
    float##n OVERLOAD normalize(float##n v) \
    { \
        float magnitude = largest(v), scale = scale_for(magnitude); \
        float##n scaled = v * scale; \
        if (SELDOM(isinf(magnitude))) \
            scaled = copysign(select((float##n)0.0f, (float##n)1.0f, isinf(v)), v); \
        float square = dot(scaled, scaled); \
        return square == 0.0f ? v : scaled / sqrt(square); \
    } \
    float OVERLOAD fast_length(float##n v) { return sqrt(dot(v, v)); } \
    float##n OVERLOAD fast_normalize(float##n v) \
    { \
        float square = dot(v, v); \
        return square == 0.0f ? v : v * (1.0f / sqrt(square)); \
    }
LENGTHS(2) LENGTHS(3) LENGTHS(4)

float OVERLOAD length(float v) { return fabs(v); }
float OVERLOAD fast_length(float v) { return fabs(v); }
float OVERLOAD normalize(float v) { return sign(v); }
float OVERLOAD fast_normalize(float v) { return sign(v); }

#define DISTANCES(n) \
    float OVERLOAD distance(float##n a, float##n b) { return length(a - b); } \
    float OVERLOAD fast_distance(float##n a, float##n b) { return fast_length(a - b); }
DISTANCES() DISTANCES(2) DISTANCES(3) DISTANCES(4)
