/* What OpenCL C on FGPU has beyond the language itself. Included before every program.

   The functions of chapter 6.12 are declared by clang and defined in builtins/, from where they are linked. */
#ifndef FGPU_OPENCL_H
#define FGPU_OPENCL_H

/* What clang says of its own target. */
#undef __IMAGE_SUPPORT__
#undef __SPIR__
#undef __SPIR32__

#define __FGPU__ 1
#ifndef __FGPU_FULL_PROFILE
#define __EMBEDDED_PROFILE__ 1
#endif
#define __OPENCL_VERSION__ 120
#define __opencl_c_named_address_space_builtins 1
#define cles_khr_int64 1

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef uint cl_mem_fence_flags;

#define FGPU_VECTORS(type) \
    typedef type type##2 __attribute__((ext_vector_type(2))); \
    typedef type type##3 __attribute__((ext_vector_type(3))); \
    typedef type type##4 __attribute__((ext_vector_type(4))); \
    typedef type type##8 __attribute__((ext_vector_type(8))); \
    typedef type type##16 __attribute__((ext_vector_type(16)));
FGPU_VECTORS(char) FGPU_VECTORS(uchar) FGPU_VECTORS(short) FGPU_VECTORS(ushort) FGPU_VECTORS(int) FGPU_VECTORS(uint)
FGPU_VECTORS(long) FGPU_VECTORS(ulong) FGPU_VECTORS(float)
/* Where clang has them: see clang.py. */
#ifdef __FGPU_cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
FGPU_VECTORS(half)
#endif
#ifdef __FGPU_cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
FGPU_VECTORS(double)
#endif
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
#define LONG_MAX 0x7fffffffffffffffL
#define LONG_MIN (-0x7fffffffffffffffL - 1)
#define ULONG_MAX 0xffffffffffffffffUL

#define INFINITY (__builtin_inff())
#define HUGE_VALF INFINITY
#define NAN (__builtin_nanf(""))
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX_10_EXP +38
#define FLT_MAX_EXP +128
#define FLT_MIN_10_EXP -37
#define FLT_MIN_EXP -125
#define FLT_RADIX 2
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1.0p-126f
#define FLT_EPSILON 0x1.0p-23f
#define MAXFLOAT FLT_MAX
#define FP_ILOGB0 INT_MIN
#define FP_ILOGBNAN INT_MIN
#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.43429448190325182765f
#define M_LN2_F 0.69314718055994530942f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.78539816339744830962f
#define M_1_PI_F 0.31830988618379067154f
#define M_2_PI_F 0.63661977236758134308f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.70710678118654752440f

/* Of type float in programs that have no doubles. */
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

/* Manuals have them for one element, too, of which the alignment says nothing. */
#define vloada_half vload_half
#define vstorea_half vstore_half
#define vstorea_half_rte vstore_half_rte
#define vstorea_half_rtz vstore_half_rtz
#define vstorea_half_rtp vstore_half_rtp
#define vstorea_half_rtn vstore_half_rtn

#ifdef __FGPU_cl_khr_fp64
#define HUGE_VAL (__builtin_inf())
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_MAX_10_EXP +308
#define DBL_MAX_EXP +1024
#define DBL_MIN_10_EXP -307
#define DBL_MIN_EXP -1021
#define DBL_RADIX 2
#define DBL_MAX 0x1.fffffffffffffp1023
#define DBL_MIN 0x1.0p-1022
#define DBL_EPSILON 0x1.0p-52
#endif
#ifdef __FGPU_cl_khr_fp16
#define HALF_DIG 3
#define HALF_MANT_DIG 11
#define HALF_MAX_10_EXP +4
#define HALF_MAX_EXP +16
#define HALF_MIN_10_EXP -4
#define HALF_MIN_EXP -13
#define HALF_RADIX 2
#define HALF_MAX 0x1.ffcp15h
#define HALF_MIN 0x1.0p-14h
#define HALF_EPSILON 0x1.0p-10h
#define M_E_H 2.71828182845904523536h
#define M_LOG2E_H 1.44269504088896340736h
#define M_LOG10E_H 0.43429448190325182765h
#define M_LN2_H 0.69314718055994530942h
#define M_LN10_H 2.30258509299404568402h
#define M_PI_H 3.14159265358979323846h
#define M_PI_2_H 1.57079632679489661923h
#define M_PI_4_H 0.78539816339744830962h
#define M_1_PI_H 0.31830988618379067154h
#define M_2_PI_H 0.63661977236758134308h
#define M_2_SQRTPI_H 1.12837916709551257390h
#define M_SQRT2_H 1.41421356237309504880h
#define M_SQRT1_2_H 0.70710678118654752440h
#endif

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2

/* OpenCL 2.0's name; clang declares it for that only. */
__attribute__((overloadable, convergent)) void work_group_barrier(cl_mem_fence_flags flags);

/* OpenCL 2.0's; a program for 1.2 may have a function of its own of that name: see clang.py. */
#ifdef __FGPU_ctz
#define FGPU_CTZ(type) __attribute__((overloadable, const)) type ctz(type);
#define FGPU_CTZ_OF(type) FGPU_CTZ(type) FGPU_CTZ(type##2) FGPU_CTZ(type##3) FGPU_CTZ(type##4) FGPU_CTZ(type##8) \
    FGPU_CTZ(type##16)
FGPU_CTZ_OF(char) FGPU_CTZ_OF(uchar) FGPU_CTZ_OF(short) FGPU_CTZ_OF(ushort) FGPU_CTZ_OF(int) FGPU_CTZ_OF(uint)
FGPU_CTZ_OF(long) FGPU_CTZ_OF(ulong)
#undef FGPU_CTZ
#undef FGPU_CTZ_OF
#endif

/* Programs are compiled with all functions static. */
#ifndef __FGPU_SOME_KERNELS
#define __kernel __kernel __attribute__((used))
#define kernel kernel __attribute__((used))
#endif

/* 6.10: a kernel with hints. */
#define __kernel_exec(X, typen) \
    __kernel __attribute__((work_group_size_hint(X, 1, 1))) __attribute__((vec_type_hint(typen)))
#define kernel_exec(X, typen) __kernel_exec(X, typen)

#if __OPENCL_C_VERSION__ >= 120
int printf(__constant const char *format, ...);
#endif

/* What is refused later, where it is used, by name. */
#define CLK_NORMALIZED_COORDS_FALSE 0
#define CLK_NORMALIZED_COORDS_TRUE 1
#define CLK_ADDRESS_NONE 0
#define CLK_ADDRESS_CLAMP_TO_EDGE 2
#define CLK_ADDRESS_CLAMP 4
#define CLK_ADDRESS_REPEAT 6
#define CLK_ADDRESS_MIRRORED_REPEAT 8
#define CLK_FILTER_NEAREST 0x10
#define CLK_FILTER_LINEAR 0x20

/* The names of OpenCL 1.0. Those of 64 bits and in local memory are refused later, too. */
#define FGPU_ATOM(space, type) \
    __attribute__((overloadable)) type atom_add(volatile space type *, type); \
    __attribute__((overloadable)) type atom_sub(volatile space type *, type); \
    __attribute__((overloadable)) type atom_xchg(volatile space type *, type); \
    __attribute__((overloadable)) type atom_inc(volatile space type *); \
    __attribute__((overloadable)) type atom_dec(volatile space type *); \
    __attribute__((overloadable)) type atom_cmpxchg(volatile space type *, type, type); \
    __attribute__((overloadable)) type atom_min(volatile space type *, type); \
    __attribute__((overloadable)) type atom_max(volatile space type *, type); \
    __attribute__((overloadable)) type atom_and(volatile space type *, type); \
    __attribute__((overloadable)) type atom_or(volatile space type *, type); \
    __attribute__((overloadable)) type atom_xor(volatile space type *, type);
FGPU_ATOM(__global, int) FGPU_ATOM(__global, uint) FGPU_ATOM(__global, long) FGPU_ATOM(__global, ulong)
FGPU_ATOM(__local, int) FGPU_ATOM(__local, uint) FGPU_ATOM(__local, long) FGPU_ATOM(__local, ulong)
#undef FGPU_ATOM

/* Reinterpretation (6.2.4.2). */
#define as_char(x) __builtin_astype((x), char)
#define as_char2(x) __builtin_astype((x), char2)
#define as_char3(x) __builtin_astype((x), char3)
#define as_char4(x) __builtin_astype((x), char4)
#define as_char8(x) __builtin_astype((x), char8)
#define as_char16(x) __builtin_astype((x), char16)
#define as_uchar(x) __builtin_astype((x), uchar)
#define as_uchar2(x) __builtin_astype((x), uchar2)
#define as_uchar3(x) __builtin_astype((x), uchar3)
#define as_uchar4(x) __builtin_astype((x), uchar4)
#define as_uchar8(x) __builtin_astype((x), uchar8)
#define as_uchar16(x) __builtin_astype((x), uchar16)
#define as_short(x) __builtin_astype((x), short)
#define as_short2(x) __builtin_astype((x), short2)
#define as_short3(x) __builtin_astype((x), short3)
#define as_short4(x) __builtin_astype((x), short4)
#define as_short8(x) __builtin_astype((x), short8)
#define as_short16(x) __builtin_astype((x), short16)
#define as_ushort(x) __builtin_astype((x), ushort)
#define as_ushort2(x) __builtin_astype((x), ushort2)
#define as_ushort3(x) __builtin_astype((x), ushort3)
#define as_ushort4(x) __builtin_astype((x), ushort4)
#define as_ushort8(x) __builtin_astype((x), ushort8)
#define as_ushort16(x) __builtin_astype((x), ushort16)
#define as_int(x) __builtin_astype((x), int)
#define as_int2(x) __builtin_astype((x), int2)
#define as_int3(x) __builtin_astype((x), int3)
#define as_int4(x) __builtin_astype((x), int4)
#define as_int8(x) __builtin_astype((x), int8)
#define as_int16(x) __builtin_astype((x), int16)
#define as_uint(x) __builtin_astype((x), uint)
#define as_uint2(x) __builtin_astype((x), uint2)
#define as_uint3(x) __builtin_astype((x), uint3)
#define as_uint4(x) __builtin_astype((x), uint4)
#define as_uint8(x) __builtin_astype((x), uint8)
#define as_uint16(x) __builtin_astype((x), uint16)
#define as_long(x) __builtin_astype((x), long)
#define as_long2(x) __builtin_astype((x), long2)
#define as_long3(x) __builtin_astype((x), long3)
#define as_long4(x) __builtin_astype((x), long4)
#define as_long8(x) __builtin_astype((x), long8)
#define as_long16(x) __builtin_astype((x), long16)
#define as_ulong(x) __builtin_astype((x), ulong)
#define as_ulong2(x) __builtin_astype((x), ulong2)
#define as_ulong3(x) __builtin_astype((x), ulong3)
#define as_ulong4(x) __builtin_astype((x), ulong4)
#define as_ulong8(x) __builtin_astype((x), ulong8)
#define as_ulong16(x) __builtin_astype((x), ulong16)
#define as_float(x) __builtin_astype((x), float)
#define as_float2(x) __builtin_astype((x), float2)
#define as_float3(x) __builtin_astype((x), float3)
#define as_float4(x) __builtin_astype((x), float4)
#define as_float8(x) __builtin_astype((x), float8)
#define as_float16(x) __builtin_astype((x), float16)
#define as_half(x) __builtin_astype((x), half)
#define as_half2(x) __builtin_astype((x), half2)
#define as_half3(x) __builtin_astype((x), half3)
#define as_half4(x) __builtin_astype((x), half4)
#define as_half8(x) __builtin_astype((x), half8)
#define as_half16(x) __builtin_astype((x), half16)
#define as_double(x) __builtin_astype((x), double)
#define as_double2(x) __builtin_astype((x), double2)
#define as_double3(x) __builtin_astype((x), double3)
#define as_double4(x) __builtin_astype((x), double4)
#define as_double8(x) __builtin_astype((x), double8)
#define as_double16(x) __builtin_astype((x), double16)

#endif
