// Every scalar and vector type in local memory: stored by one work-item, loaded by others.

// run next_{char uchar short ushort int uint long ulong float} 128/64: out $ 128, in $ 128
#define NEXT(T) __kernel void next_##T(__global T *out, __global const T *in) \
{ \
    __local T t[64]; \
    uint l = get_local_id(0), i = get_global_id(0); \
    t[l] = in[i]; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    out[i] = t[l] / 2 + t[l + 1 & 63] / 2; \
}

// run mirror_{char2 uchar2 short2 ushort2 int2 uint2 long2 ulong2 float2} 128/64: out $ 128, in $ 128
// run mirror_{char4 uchar4 short4 ushort4 int4 uint4 long4 ulong4 float4} 128/64: out $ 128, in $ 128
// run mirror_{char8 uchar8 short8 ushort8 int8 uint8 long8 ulong8 float8} 128/64: out $ 128, in $ 128
// run mirror_{char16 uchar16 short16 ushort16 int16 uint16 float16} 96/32: out $ 96, in $ 96
#define MIRROR(T) __kernel void mirror_##T(__global T *out, __global const T *in) \
{ \
    __local T t[64]; \
    uint l = get_local_id(0), i = get_global_id(0), n = get_local_size(0); \
    t[l] = in[i]; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    T found = t[n - 1 - l]; \
    found.hi = found.lo; \
    found.lo = t[l ^ 1].hi; \
    out[i] = found; \
}

// run lanes_{char uchar short ushort int uint long ulong float} 128/64: out $ 384, in $ 384
#define LANES(T) __kernel void lanes_##T(__global T *out, __global const T *in) \
{ \
    __local T##3 t[64]; \
    uint l = get_local_id(0), i = get_global_id(0); \
    t[l] = vload3(i, in); \
    barrier(CLK_LOCAL_MEM_FENCE); \
    vstore3((T##3)(t[l ^ 1].z, t[l ^ 2].x, t[63 - l].y), i, out); \
}

// Each work-item stores one lane. (A member, t[n].x = value, would be a load and a store of all lanes: a race.)
// run lane_by_lane_{char short int long float} 128/64: out $4 32, in $ 128
#define LANE_BY_LANE(T) __kernel void lane_by_lane_##T(__global T##4 *out, __global const T *in) \
{ \
    __local T##4 t[16]; \
    uint l = get_local_id(0), g = get_group_id(0); \
    __local T *lanes = (__local T *)&t[l / 4]; \
    lanes[l * 3 & 3] = in[get_global_id(0)]; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    if (l < 16) out[16 * g + l] = t[15 - l]; \
}

#define EACH(M) M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong) M(float)
#define VECTORS(M, N) M(char##N) M(uchar##N) M(short##N) M(ushort##N) M(int##N) M(uint##N) M(float##N)

EACH(NEXT)
EACH(LANES)
VECTORS(MIRROR, 2) MIRROR(long2) MIRROR(ulong2)
VECTORS(MIRROR, 4) MIRROR(long4) MIRROR(ulong4)
VECTORS(MIRROR, 8) MIRROR(long8) MIRROR(ulong8)
VECTORS(MIRROR, 16)
LANE_BY_LANE(char) LANE_BY_LANE(short) LANE_BY_LANE(int) LANE_BY_LANE(long) LANE_BY_LANE(float)
