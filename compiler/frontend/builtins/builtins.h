/* What the files of this folder share. They define functions of OpenCL 1.2, chapter 6.12, in all their forms. */
#ifndef FGPU_BUILTINS_H
#define FGPU_BUILTINS_H

#define OVERLOAD __attribute__((overloadable, always_inline))
#define ROUTINE __attribute__((overloadable, noinline))
#define SELDOM(condition) __builtin_expect(condition, 0)
#define SIGN 0x80000000u
#define CANONICAL_NAN 0x7fc00000u

/* `macro` for vectors of each width; the width is its first argument. */
#define FOR_VECTORS(macro, ...) \
    macro(2, __VA_ARGS__) macro(3, __VA_ARGS__) macro(4, __VA_ARGS__) macro(8, __VA_ARGS__) macro(16, __VA_ARGS__)
#define FOR_WIDTHS(macro, ...) macro(, __VA_ARGS__) FOR_VECTORS(macro, __VA_ARGS__)
/* `macro` for each integer type: the type, its unsigned and its signed form, its bits. */
#define FOR_INTEGERS(macro) \
    macro(char, uchar, char, 8) macro(uchar, uchar, char, 8) macro(short, ushort, short, 16) \
    macro(ushort, ushort, short, 16) macro(int, uint, int, 32) macro(uint, uint, int, 32) macro(long, ulong, long, 64) \
    macro(ulong, ulong, long, 64)
#define FOR_ADDRESS_SPACES(macro, ...) \
    macro(__global, __VA_ARGS__) macro(__private, __VA_ARGS__) macro(__local, __VA_ARGS__)

/* Vector forms of a function of scalars, lane by lane: of one, two and three arguments. */
#define LANES1(result, name, a) \
    result##2 OVERLOAD name(a##2 x) { return (result##2)(name(x.s0), name(x.s1)); } \
    result##3 OVERLOAD name(a##3 x) { return (result##3)(name(x.s0), name(x.s1), name(x.s2)); } \
    result##4 OVERLOAD name(a##4 x) { return (result##4)(name(x.lo), name(x.hi)); } \
    result##8 OVERLOAD name(a##8 x) { return (result##8)(name(x.lo), name(x.hi)); } \
    result##16 OVERLOAD name(a##16 x) { return (result##16)(name(x.lo), name(x.hi)); }
#define LANES2(result, name, a, b) \
    result##2 OVERLOAD name(a##2 x, b##2 y) { return (result##2)(name(x.s0, y.s0), name(x.s1, y.s1)); } \
    result##3 OVERLOAD name(a##3 x, b##3 y) \
    { return (result##3)(name(x.s0, y.s0), name(x.s1, y.s1), name(x.s2, y.s2)); } \
    result##4 OVERLOAD name(a##4 x, b##4 y) { return (result##4)(name(x.lo, y.lo), name(x.hi, y.hi)); } \
    result##8 OVERLOAD name(a##8 x, b##8 y) { return (result##8)(name(x.lo, y.lo), name(x.hi, y.hi)); } \
    result##16 OVERLOAD name(a##16 x, b##16 y) { return (result##16)(name(x.lo, y.lo), name(x.hi, y.hi)); }
#define LANES3(result, name, a, b, c) \
    result##2 OVERLOAD name(a##2 x, b##2 y, c##2 z) \
    { return (result##2)(name(x.s0, y.s0, z.s0), name(x.s1, y.s1, z.s1)); } \
    result##3 OVERLOAD name(a##3 x, b##3 y, c##3 z) \
    { return (result##3)(name(x.s0, y.s0, z.s0), name(x.s1, y.s1, z.s1), name(x.s2, y.s2, z.s2)); } \
    result##4 OVERLOAD name(a##4 x, b##4 y, c##4 z) \
    { return (result##4)(name(x.lo, y.lo, z.lo), name(x.hi, y.hi, z.hi)); } \
    result##8 OVERLOAD name(a##8 x, b##8 y, c##8 z) \
    { return (result##8)(name(x.lo, y.lo, z.lo), name(x.hi, y.hi, z.hi)); } \
    result##16 OVERLOAD name(a##16 x, b##16 y, c##16 z) \
    { return (result##16)(name(x.lo, y.lo, z.lo), name(x.hi, y.hi, z.hi)); }

/* convert_ for vectors, of which there is the one for scalars; `mode` is what its name ends with. */
#define CONVERSION_OF_LANES(to, mode, from) \
    LANES1(to, convert_##to##mode, from) FOR_VECTORS(CONVERSION_OF_VECTOR, to, mode, from)
#define CONVERSION_OF_VECTOR(n, to, mode, from) \
    to##n OVERLOAD convert_##to##n##mode(from##n x) { return convert_##to##mode(x); }
#define CONVERSIONS_OF_LANES(to, mode, from) \
    CONVERSION_OF_LANES(to, mode, from) CONVERSION_OF_LANES(to, mode##_rte, from) \
    CONVERSION_OF_LANES(to, mode##_rtz, from) CONVERSION_OF_LANES(to, mode##_rtp, from) \
    CONVERSION_OF_LANES(to, mode##_rtn, from)

/* Routines of library/float.cl, on numbers as words. */
uint __attribute__((const)) fgpu_float_to_uint(uint x);
uint __attribute__((const)) fgpu_float_to_int(uint x);
ulong __attribute__((const)) fgpu_ulong_from_float(uint x);
long __attribute__((const)) fgpu_long_from_float(uint x);

#endif
