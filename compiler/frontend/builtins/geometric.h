/* Parts of 6.12.5 for a type, which has `sign` and `scale_for`: 1, or what brings a number of a magnitude near it.

   Lengths of what would overflow or vanish when squared are scaled by a power of two. */
#ifndef FGPU_GEOMETRIC_H
#define FGPU_GEOMETRIC_H

#include "builtins.h"

#define PRODUCTS(type) \
    type OVERLOAD dot(type a, type b) { return a * b; } \
    type OVERLOAD dot(type##2 a, type##2 b) { return a.x * b.x + a.y * b.y; } \
    type OVERLOAD dot(type##3 a, type##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; } \
    type OVERLOAD dot(type##4 a, type##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; } \
    type##3 OVERLOAD cross(type##3 a, type##3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; } \
    type##4 OVERLOAD cross(type##4 a, type##4 b) { return (type##4)(cross(a.xyz, b.xyz), (type)0); }

/* `largest` is the largest magnitude among the components. */
#define LENGTHS(type, infinite) \
    type OVERLOAD largest(type##2 v) { return fmax(fabs(v.x), fabs(v.y)); } \
    type OVERLOAD largest(type##3 v) { return fmax(largest(v.xy), fabs(v.z)); } \
    type OVERLOAD largest(type##4 v) { return fmax(largest(v.xy), largest(v.zw)); } \
    LENGTHS_OF(2, type, infinite) LENGTHS_OF(3, type, infinite) LENGTHS_OF(4, type, infinite) \
    type OVERLOAD length(type v) { return fabs(v); } \
    type OVERLOAD normalize(type v) { return sign(v); } \
    DISTANCE(, type) DISTANCE(2, type) DISTANCE(3, type) DISTANCE(4, type)
#define LENGTHS_OF(n, type, infinite) \
    type OVERLOAD length(type##n v) \
    { \
        type magnitude = largest(v), scale = scale_for(magnitude); \
        type##n scaled = v * scale; \
        type result = sqrt(dot(scaled, scaled)) / scale; \
        return isinf(magnitude) ? infinite : result; \
    } \
    type##n OVERLOAD normalize(type##n v) \
    { \
        type magnitude = largest(v), scale = scale_for(magnitude); \
        type##n scaled = v * scale; \
        if (SELDOM(isinf(magnitude))) \
            scaled = copysign(select((type##n)0, (type##n)1, isinf(v)), v); \
        type square = dot(scaled, scaled); \
        return square == (type)0 ? v : scaled / sqrt(square); \
    }
#define DISTANCE(n, type) type OVERLOAD distance(type##n a, type##n b) { return length(a - b); }

#endif
