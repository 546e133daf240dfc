/* 6.12.7, 6.12.10 and 6.12.12 for elements of a type. */
#ifndef FGPU_VECTOR_DATA_H
#define FGPU_VECTOR_DATA_H

#include "builtins.h"

#define VLOAD(space, type) \
    type##2 OVERLOAD vload2(size_t n, const space type *p) { p += 2 * n; return (type##2)(p[0], p[1]); } \
    type##3 OVERLOAD vload3(size_t n, const space type *p) { p += 3 * n; return (type##3)(p[0], p[1], p[2]); } \
    type##4 OVERLOAD vload4(size_t n, const space type *p) \
    { p += 4 * n; return (type##4)(p[0], p[1], p[2], p[3]); } \
    type##8 OVERLOAD vload8(size_t n, const space type *p) \
    { p += 8 * n; return (type##8)(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]); } \
    type##16 OVERLOAD vload16(size_t n, const space type *p) \
    { return (type##16)(vload8(2 * n, p), vload8(2 * n + 1, p)); }
#define VSTORE(space, type) \
    void OVERLOAD vstore2(type##2 v, size_t n, space type *p) { p += 2 * n; p[0] = v.s0; p[1] = v.s1; } \
    void OVERLOAD vstore3(type##3 v, size_t n, space type *p) \
    { p += 3 * n; p[0] = v.s0; p[1] = v.s1; p[2] = v.s2; } \
    void OVERLOAD vstore4(type##4 v, size_t n, space type *p) \
    { vstore2(v.lo, 2 * n, p); vstore2(v.hi, 2 * n + 1, p); } \
    void OVERLOAD vstore8(type##8 v, size_t n, space type *p) \
    { vstore4(v.lo, 2 * n, p); vstore4(v.hi, 2 * n + 1, p); } \
    void OVERLOAD vstore16(type##16 v, size_t n, space type *p) \
    { vstore8(v.lo, 2 * n, p); vstore8(v.hi, 2 * n + 1, p); }
#define VECTOR_DATA(type) FOR_ADDRESS_SPACES(VLOAD, type) VLOAD(__constant, type) FOR_ADDRESS_SPACES(VSTORE, type)

#define PREFETCH(n, type) void OVERLOAD prefetch(const __global type##n *p, size_t count) {}

/* The lane that the lowest bits of each lane of the mask name. */
#define SHUFFLE_FROM(m, type, mask) \
    type##2 OVERLOAD shuffle(type##m x, mask##2 c) { return (type##2)(x[c.s0 & (m - 1)], x[c.s1 & (m - 1)]); } \
    type##4 OVERLOAD shuffle(type##m x, mask##4 c) { return (type##4)(shuffle(x, c.lo), shuffle(x, c.hi)); } \
    type##8 OVERLOAD shuffle(type##m x, mask##8 c) { return (type##8)(shuffle(x, c.lo), shuffle(x, c.hi)); } \
    type##16 OVERLOAD shuffle(type##m x, mask##16 c) { return (type##16)(shuffle(x, c.lo), shuffle(x, c.hi)); } \
    type OVERLOAD one_of(type##m x, type##m y, uint c) { return c & m ? y[c & (m - 1)] : x[c & (m - 1)]; } \
    type##2 OVERLOAD shuffle2(type##m x, type##m y, mask##2 c) \
    { return (type##2)(one_of(x, y, (uint)c.s0), one_of(x, y, (uint)c.s1)); } \
    type##4 OVERLOAD shuffle2(type##m x, type##m y, mask##4 c) \
    { return (type##4)(shuffle2(x, y, c.lo), shuffle2(x, y, c.hi)); } \
    type##8 OVERLOAD shuffle2(type##m x, type##m y, mask##8 c) \
    { return (type##8)(shuffle2(x, y, c.lo), shuffle2(x, y, c.hi)); } \
    type##16 OVERLOAD shuffle2(type##m x, type##m y, mask##16 c) \
    { return (type##16)(shuffle2(x, y, c.lo), shuffle2(x, y, c.hi)); }
#define SHUFFLE(type, mask) \
    SHUFFLE_FROM(2, type, mask) SHUFFLE_FROM(4, type, mask) SHUFFLE_FROM(8, type, mask) SHUFFLE_FROM(16, type, mask)

#endif
