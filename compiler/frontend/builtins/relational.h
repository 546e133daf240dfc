/* Parts of 6.12.6 for a type. */
#ifndef FGPU_RELATIONAL_H
#define FGPU_RELATIONAL_H

#include "builtins.h"

/* The answer is 1 or 0 for scalars, and -1 or 0 in lanes, which are of type `answer`. */
#define COMPARISONS(type, answer) \
    COMPARISON(type, answer, isequal, a == b) \
    COMPARISON(type, answer, isnotequal, a != b) \
    COMPARISON(type, answer, isgreater, a > b) \
    COMPARISON(type, answer, isgreaterequal, a >= b) \
    COMPARISON(type, answer, isless, a < b) \
    COMPARISON(type, answer, islessequal, a <= b) \
    COMPARISON(type, answer, islessgreater, (a < b) | (a > b)) \
    COMPARISON(type, answer, isordered, (a == a) & (b == b)) \
    COMPARISON(type, answer, isunordered, (a != a) | (b != b))
#define COMPARISON(type, answer, name, condition) \
    int OVERLOAD name(type a, type b) { return condition; } \
    FOR_VECTORS(COMPARISON_OF_LANES, type, answer, name, condition)
#define COMPARISON_OF_LANES(n, type, answer, name, condition) \
    answer##n OVERLOAD name(type##n a, type##n b) { return condition; }

#define BITSELECT(n, type, utype) \
    type##n OVERLOAD bitselect(type##n a, type##n b, type##n c) \
    { \
        utype##n x = __builtin_astype(a, utype##n), y = __builtin_astype(b, utype##n); \
        utype##n chosen = __builtin_astype(c, utype##n); \
        return __builtin_astype((utype##n)((x & ~chosen) | (y & chosen)), type##n); \
    }

/* The second where the third is true: not zero in scalars, negative in lanes. */
#define SELECT(type, choice) \
    type OVERLOAD select(type a, type b, choice c) { return c ? b : a; } \
    FOR_VECTORS(SELECT_LANES, type, choice)
#define SELECT_LANES(n, type, choice) \
    type##n OVERLOAD select(type##n a, type##n b, choice##n c) { return c ? b : a; }

#endif
