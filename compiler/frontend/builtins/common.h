/* Parts of 6.12.4 for a type. */
#ifndef FGPU_COMMON_H
#define FGPU_COMMON_H

#include "builtins.h"

#define COMMON(n, type) \
    type##n OVERLOAD min(type##n a, type##n b) { return b < a ? b : a; } \
    type##n OVERLOAD max(type##n a, type##n b) { return a < b ? b : a; } \
    type##n OVERLOAD clamp(type##n x, type##n low, type##n high) { return fmin(fmax(x, low), high); } \
    type##n OVERLOAD step(type##n edge, type##n x) { return x < edge ? (type##n)0 : (type##n)1; }
/* What is computed in the type itself. */
#define COMPUTED(n, type) \
    type##n OVERLOAD degrees(type##n x) { return x * (type##n)(type)57.295779513082320877; } \
    type##n OVERLOAD radians(type##n x) { return x * (type##n)(type)0.017453292519943295769; } \
    type##n OVERLOAD mix(type##n x, type##n y, type##n a) { return x + (y - x) * a; } \
    type##n OVERLOAD smoothstep(type##n from, type##n to, type##n x) \
    { \
        type##n t = clamp((x - from) / (to - from), (type##n)0, (type##n)1); \
        return t * t * ((type##n)3 - (type##n)2 * t); \
    }
#define WITH_SCALARS(n, type) \
    type##n OVERLOAD min(type##n a, type b) { return min(a, (type##n)b); } \
    type##n OVERLOAD max(type##n a, type b) { return max(a, (type##n)b); } \
    type##n OVERLOAD clamp(type##n x, type low, type high) { return clamp(x, (type##n)low, (type##n)high); } \
    type##n OVERLOAD mix(type##n x, type##n y, type a) { return mix(x, y, (type##n)a); } \
    type##n OVERLOAD step(type edge, type##n x) { return step((type##n)edge, x); } \
    type##n OVERLOAD smoothstep(type from, type to, type##n x) { return smoothstep((type##n)from, (type##n)to, x); }

#endif
