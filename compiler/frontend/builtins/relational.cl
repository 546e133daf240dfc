/* 6.12.6: relational functions. */
#include "relational.h"

COMPARISONS(float, int)

/* By the number as a word; `twice` has no sign any more. */
#define TEST(name, condition) \
    int OVERLOAD name(float a) { uint x = as_uint(a), twice = x << 1; return condition; } \
    FOR_VECTORS(TEST_OF, name, condition)
#define TEST_OF(n, name, condition) \
    int##n OVERLOAD name(float##n a) { uint##n x = as_uint##n(a), twice = x << 1; return condition; }
TEST(isnan, twice > 0xff000000)
TEST(isinf, twice == 0xff000000)
TEST(isfinite, twice < 0xff000000)
TEST(isnormal, twice - 0x01000000 < 0xfe000000)
TEST(signbit, x >= SIGN)

/* By the top bits of the lanes. */
#define ANY_ALL(type) \
    int OVERLOAD any(type x) { return x < (type)0; } \
    int OVERLOAD all(type x) { return x < (type)0; } \
    int OVERLOAD any(type##2 x) { return any((type)(x.x | x.y)); } \
    int OVERLOAD all(type##2 x) { return all((type)(x.x & x.y)); } \
    int OVERLOAD any(type##3 x) { return any((type)(x.x | x.y | x.z)); } \
    int OVERLOAD all(type##3 x) { return all((type)(x.x & x.y & x.z)); } \
    int OVERLOAD any(type##4 x) { return any(x.lo | x.hi); } \
    int OVERLOAD all(type##4 x) { return all(x.lo & x.hi); } \
    int OVERLOAD any(type##8 x) { return any(x.lo | x.hi); } \
    int OVERLOAD all(type##8 x) { return all(x.lo & x.hi); } \
    int OVERLOAD any(type##16 x) { return any(x.lo | x.hi); } \
    int OVERLOAD all(type##16 x) { return all(x.lo & x.hi); }
ANY_ALL(char) ANY_ALL(short) ANY_ALL(int) ANY_ALL(long)

#define BITSELECT_INTEGER(type, utype, stype, bits) FOR_WIDTHS(BITSELECT, type, utype)
FOR_INTEGERS(BITSELECT_INTEGER)
FOR_WIDTHS(BITSELECT, float, uint)

#define SELECT_INTEGER(type, utype, stype, bits) SELECT(type, utype) SELECT(type, stype)
FOR_INTEGERS(SELECT_INTEGER)
SELECT(float, int) SELECT(float, uint)
