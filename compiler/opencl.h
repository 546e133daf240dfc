/* What OpenCL C on FGPU has beyond the language itself. Included before every program. */
#ifndef FGPU_OPENCL_H
#define FGPU_OPENCL_H

#define __FGPU__ 1
#define FGPU_OVERLOAD __attribute__((overloadable, always_inline))
#define FGPU_QUERY __attribute__((const, overloadable))

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;

#define FGPU_VECTORS(type) \
    typedef type type##2 __attribute__((ext_vector_type(2))); \
    typedef type type##3 __attribute__((ext_vector_type(3))); \
    typedef type type##4 __attribute__((ext_vector_type(4))); \
    typedef type type##8 __attribute__((ext_vector_type(8))); \
    typedef type type##16 __attribute__((ext_vector_type(16)));
FGPU_VECTORS(char) FGPU_VECTORS(uchar) FGPU_VECTORS(short) FGPU_VECTORS(ushort) FGPU_VECTORS(int) FGPU_VECTORS(uint)
FGPU_VECTORS(float)
#undef FGPU_VECTORS

#define NULL ((void *)0)
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 0xffffffffU

/* The work-item's place in the index space: instructions of the machine. The dimension must be a constant. */
size_t FGPU_QUERY get_global_id(uint dimension);
size_t FGPU_QUERY get_local_id(uint dimension);
size_t FGPU_QUERY get_group_id(uint dimension);
size_t FGPU_QUERY get_global_size(uint dimension);
size_t FGPU_QUERY get_local_size(uint dimension);
size_t FGPU_QUERY get_global_offset(uint dimension);
uint FGPU_QUERY get_work_dim(void);
static inline size_t FGPU_OVERLOAD get_num_groups(uint dimension)
{ return get_global_size(dimension) / get_local_size(dimension); }

/* Atomic operations on words of global memory, where the hardware has them. Local memory is refused later. */
#define FGPU_ATOMIC(name, type) \
    type __attribute__((overloadable)) name(volatile __global type *address, type operand); \
    type __attribute__((overloadable)) name(volatile __local type *address, type operand);
#define FGPU_ATOMICS(name) FGPU_ATOMIC(name, int) FGPU_ATOMIC(name, uint)
FGPU_ATOMICS(atomic_add) FGPU_ATOMICS(atomic_sub) FGPU_ATOMICS(atomic_xchg) FGPU_ATOMICS(atomic_min)
FGPU_ATOMICS(atomic_max) FGPU_ATOMICS(atomic_and) FGPU_ATOMICS(atomic_or) FGPU_ATOMICS(atomic_xor)
FGPU_ATOMIC(atomic_xchg, float)
#undef FGPU_ATOMICS
#undef FGPU_ATOMIC
#define FGPU_ATOMIC(space, type) \
    type __attribute__((overloadable)) atomic_inc(volatile space type *address); \
    type __attribute__((overloadable)) atomic_dec(volatile space type *address); \
    type __attribute__((overloadable)) atomic_cmpxchg(volatile space type *address, type expected, type value);
FGPU_ATOMIC(__global, int) FGPU_ATOMIC(__global, uint) FGPU_ATOMIC(__local, int) FGPU_ATOMIC(__local, uint)
#undef FGPU_ATOMIC
/* The names of OpenCL 1.0 and its extensions. */
#define atom_add atomic_add
#define atom_sub atomic_sub
#define atom_xchg atomic_xchg
#define atom_inc atomic_inc
#define atom_dec atomic_dec
#define atom_cmpxchg atomic_cmpxchg
#define atom_min atomic_min
#define atom_max atomic_max
#define atom_and atomic_and
#define atom_or atomic_or
#define atom_xor atomic_xor
#define cl_khr_global_int32_base_atomics 1
#define cl_khr_global_int32_extended_atomics 1

/* Refused, but with a message of our own instead of clang's about an undeclared function. */
void __attribute__((convergent, overloadable)) barrier(uint flags);
void __attribute__((overloadable)) mem_fence(uint flags);
void __attribute__((overloadable)) read_mem_fence(uint flags);
void __attribute__((overloadable)) write_mem_fence(uint flags);
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2

/* Integer functions (OpenCL 1.2, 6.12.3), for each of the six types. */
#define FGPU_INTEGER(type, utype, bits) \
    static inline type FGPU_OVERLOAD min(type a, type b) { return a < b ? a : b; } \
    static inline type FGPU_OVERLOAD max(type a, type b) { return a > b ? a : b; } \
    static inline type FGPU_OVERLOAD clamp(type x, type low, type high) { return min(max(x, low), high); } \
    static inline utype FGPU_OVERLOAD abs(type x) { return (utype)(x < (type)0 ? (utype)-(utype)x : (utype)x); } \
    static inline utype FGPU_OVERLOAD abs_diff(type a, type b) \
    { return a > b ? (utype)((utype)a - (utype)b) : (utype)((utype)b - (utype)a); } \
    static inline type FGPU_OVERLOAD rotate(type x, type n) \
    { return (type)(((utype)x << (n & (bits - 1))) | ((utype)x >> ((bits - n) & (bits - 1)))); } \
    static inline type FGPU_OVERLOAD popcount(type x) { return (type)__builtin_popcount((uint)(utype)x); } \
    static inline type FGPU_OVERLOAD clz(type x) \
    { return (type)((utype)x ? __builtin_clz((uint)(utype)x) - (32 - bits) : bits); }
FGPU_INTEGER(char, uchar, 8)
FGPU_INTEGER(uchar, uchar, 8)
FGPU_INTEGER(short, ushort, 16)
FGPU_INTEGER(ushort, ushort, 16)
FGPU_INTEGER(int, uint, 32)
FGPU_INTEGER(uint, uint, 32)
#undef FGPU_INTEGER

static inline uint FGPU_OVERLOAD mul_hi(uint a, uint b)
{
    uint al = a & 0xffff, ah = a >> 16, bl = b & 0xffff, bh = b >> 16;
    uint middle = ah * bl + (al * bl >> 16);
    return ah * bh + (middle >> 16) + ((al * bh + (middle & 0xffff)) >> 16);
}
static inline int FGPU_OVERLOAD mul_hi(int a, int b)
{ return (int)(mul_hi((uint)a, (uint)b) - (a < 0 ? (uint)b : 0u) - (b < 0 ? (uint)a : 0u)); }
static inline uint FGPU_OVERLOAD mad_hi(uint a, uint b, uint c) { return mul_hi(a, b) + c; }
static inline int FGPU_OVERLOAD mad_hi(int a, int b, int c) { return mul_hi(a, b) + c; }

static inline int FGPU_OVERLOAD mul24(int a, int b) { return a * b; }
static inline uint FGPU_OVERLOAD mul24(uint a, uint b) { return a * b; }
static inline int FGPU_OVERLOAD mad24(int a, int b, int c) { return a * b + c; }
static inline uint FGPU_OVERLOAD mad24(uint a, uint b, uint c) { return a * b + c; }

/* Floating-point functions (OpenCL 1.2, 6.12.2 and 6.12.6), each correctly rounded; conversions round towards zero. */
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1.0p-126f
#define FLT_EPSILON 0x1.0p-23f
#define MAXFLOAT FLT_MAX
#define HUGE_VALF INFINITY

#define FGPU_AS(from, to) static inline to FGPU_OVERLOAD as_##to(from x) { return __builtin_astype(x, to); }
FGPU_AS(float, int) FGPU_AS(uint, int) FGPU_AS(int, int)
FGPU_AS(float, uint) FGPU_AS(int, uint) FGPU_AS(uint, uint)
FGPU_AS(int, float) FGPU_AS(uint, float) FGPU_AS(float, float)
#undef FGPU_AS

#define FGPU_FLOAT(type) \
    static inline type FGPU_OVERLOAD fabs(type x) { return __builtin_elementwise_abs(x); } \
    static inline type FGPU_OVERLOAD sqrt(type x) { return __builtin_elementwise_sqrt(x); } \
    static inline type FGPU_OVERLOAD fma(type a, type b, type c) { return __builtin_elementwise_fma(a, b, c); } \
    static inline type FGPU_OVERLOAD mad(type a, type b, type c) { return a * b + c; } \
    static inline type FGPU_OVERLOAD trunc(type x) { return __builtin_elementwise_trunc(x); } \
    static inline type FGPU_OVERLOAD floor(type x) { return __builtin_elementwise_floor(x); } \
    static inline type FGPU_OVERLOAD ceil(type x) { return __builtin_elementwise_ceil(x); } \
    static inline type FGPU_OVERLOAD round(type x) { return __builtin_elementwise_round(x); } \
    static inline type FGPU_OVERLOAD rint(type x) { return __builtin_elementwise_rint(x); } \
    static inline type FGPU_OVERLOAD copysign(type x, type y) { return __builtin_elementwise_copysign(x, y); } \
    static inline type FGPU_OVERLOAD fmin(type a, type b) { return __builtin_elementwise_minimumnum(a, b); } \
    static inline type FGPU_OVERLOAD fmax(type a, type b) { return __builtin_elementwise_maximumnum(a, b); } \
    static inline type FGPU_OVERLOAD fdim(type x, type y) { return fmax(x - y, (type)0.0f); } \
    static inline type FGPU_OVERLOAD mix(type x, type y, type a) { return x + (y - x) * a; }
FGPU_FLOAT(float) FGPU_FLOAT(float2) FGPU_FLOAT(float3) FGPU_FLOAT(float4) FGPU_FLOAT(float8) FGPU_FLOAT(float16)
#undef FGPU_FLOAT
static inline float FGPU_OVERLOAD min(float a, float b) { return b < a ? b : a; }
static inline float FGPU_OVERLOAD max(float a, float b) { return a < b ? b : a; }
static inline float FGPU_OVERLOAD clamp(float x, float low, float high) { return fmin(fmax(x, low), high); }
static inline int FGPU_OVERLOAD isnan(float x) { return x != x; }
static inline int FGPU_OVERLOAD isinf(float x) { return as_uint(x) << 1 == 0xff000000; }
static inline int FGPU_OVERLOAD isfinite(float x) { return as_uint(x) << 1 < 0xff000000; }
static inline int FGPU_OVERLOAD isnormal(float x) { return (as_uint(x) << 1) - 0x01000000 < 0xfe000000; }
static inline int FGPU_OVERLOAD signbit(float x) { return as_int(x) < 0; }
static inline int FGPU_OVERLOAD isequal(float a, float b) { return a == b; }
static inline int FGPU_OVERLOAD isnotequal(float a, float b) { return a != b; }
static inline int FGPU_OVERLOAD isless(float a, float b) { return a < b; }
static inline int FGPU_OVERLOAD islessequal(float a, float b) { return a <= b; }
static inline int FGPU_OVERLOAD isgreater(float a, float b) { return a > b; }
static inline int FGPU_OVERLOAD isgreaterequal(float a, float b) { return a >= b; }
static inline int FGPU_OVERLOAD islessgreater(float a, float b) { return a < b || a > b; }
static inline int FGPU_OVERLOAD isordered(float a, float b) { return a == a && b == b; }
static inline int FGPU_OVERLOAD isunordered(float a, float b) { return a != a || b != b; }

/* Conversions between the scalar types; those with _sat differ only for integers, as those from floats saturate. */
#define FGPU_CONVERT(to) \
    static inline to FGPU_OVERLOAD convert_##to(char x) { return (to)x; } \
    static inline to FGPU_OVERLOAD convert_##to(uchar x) { return (to)x; } \
    static inline to FGPU_OVERLOAD convert_##to(short x) { return (to)x; } \
    static inline to FGPU_OVERLOAD convert_##to(ushort x) { return (to)x; } \
    static inline to FGPU_OVERLOAD convert_##to(int x) { return (to)x; } \
    static inline to FGPU_OVERLOAD convert_##to(uint x) { return (to)x; } \
    static inline to FGPU_OVERLOAD convert_##to(float x) { return (to)x; }
FGPU_CONVERT(char) FGPU_CONVERT(uchar) FGPU_CONVERT(short) FGPU_CONVERT(ushort) FGPU_CONVERT(int) FGPU_CONVERT(uint)
FGPU_CONVERT(float)
#undef FGPU_CONVERT

/* The same for vectors. */
#define convert_int2(x) __builtin_convertvector((x), int2)
#define convert_int3(x) __builtin_convertvector((x), int3)
#define convert_int4(x) __builtin_convertvector((x), int4)
#define convert_int8(x) __builtin_convertvector((x), int8)
#define convert_int16(x) __builtin_convertvector((x), int16)
#define convert_uint2(x) __builtin_convertvector((x), uint2)
#define convert_uint3(x) __builtin_convertvector((x), uint3)
#define convert_uint4(x) __builtin_convertvector((x), uint4)
#define convert_uint8(x) __builtin_convertvector((x), uint8)
#define convert_uint16(x) __builtin_convertvector((x), uint16)
#define convert_float2(x) __builtin_convertvector((x), float2)
#define convert_float3(x) __builtin_convertvector((x), float3)
#define convert_float4(x) __builtin_convertvector((x), float4)
#define convert_float8(x) __builtin_convertvector((x), float8)
#define convert_float16(x) __builtin_convertvector((x), float16)
#define as_int2(x) __builtin_astype((x), int2)
#define as_int3(x) __builtin_astype((x), int3)
#define as_int4(x) __builtin_astype((x), int4)
#define as_int8(x) __builtin_astype((x), int8)
#define as_int16(x) __builtin_astype((x), int16)
#define as_uint2(x) __builtin_astype((x), uint2)
#define as_uint3(x) __builtin_astype((x), uint3)
#define as_uint4(x) __builtin_astype((x), uint4)
#define as_uint8(x) __builtin_astype((x), uint8)
#define as_uint16(x) __builtin_astype((x), uint16)
#define as_float2(x) __builtin_astype((x), float2)
#define as_float3(x) __builtin_astype((x), float3)
#define as_float4(x) __builtin_astype((x), float4)
#define as_float8(x) __builtin_astype((x), float8)
#define as_float16(x) __builtin_astype((x), float16)

#endif
