/* 6.12.10 for elements of a type. */
#ifndef FGPU_ASYNC_COPY_H
#define FGPU_ASYNC_COPY_H

#include "builtins.h"

/* The number of this work-item in its work-group, and of how many. */
static inline __attribute__((always_inline)) size_t local_number(void)
{
    return get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));
}
static inline __attribute__((always_inline)) size_t local_count(void)
{
    return get_local_size(0) * get_local_size(1) * get_local_size(2);
}

/* Of `count` elements, `to_step` and `from_step` apart; clang shall not make several of each round. */
#define COPY(to_space, from_space, type, to_step, from_step) \
    size_t step = local_count(); \
    _Pragma("unroll 1") \
    for (size_t i = local_number(); i < count; i += step) \
        to[i * (to_step)] = from[i * (from_step)]; \
    return event;

#define COPIES(n, type, stored) \
    event_t OVERLOAD async_work_group_copy(__local type##n *target, const __global type##n *source, size_t count, \
                                           event_t event) \
    { COPY_BODY(__local, __global, stored, 1, 1) } \
    event_t OVERLOAD async_work_group_copy(__global type##n *target, const __local type##n *source, size_t count, \
                                           event_t event) \
    { COPY_BODY(__global, __local, stored, 1, 1) } \
    event_t OVERLOAD async_work_group_strided_copy(__local type##n *target, const __global type##n *source, \
                                                   size_t count, size_t stride, event_t event) \
    { COPY_BODY(__local, __global, stored, 1, stride) } \
    event_t OVERLOAD async_work_group_strided_copy(__global type##n *target, const __local type##n *source, \
                                                   size_t count, size_t stride, event_t event) \
    { COPY_BODY(__global, __local, stored, stride, 1) }
/* Vectors of three are copied as those of four. */
#define COPY_BODY(to_space, from_space, stored, to_step, from_step) \
    to_space stored *to = (to_space stored *)target; \
    const from_space stored *from = (const from_space stored *)source; \
    COPY(to_space, from_space, stored, to_step, from_step)
#define COPIES_OF(type) \
    COPIES(, type, type) COPIES(2, type, type##2) COPIES(3, type, type##4) COPIES(4, type, type##4) \
    COPIES(8, type, type##8) COPIES(16, type, type##16)

#endif
