/* 6.12.2: inverse trigonometric functions of doubles. All are angles of points. */
#include "polynomials.h"

/* The angle of the point (x, y), in radians or in half turns. */
double ROUTINE angle_of(double y, double x, uint in_half_turns)
{
    if (isnan(x) || isnan(y))
        return as_double(NAN_OF_DOUBLE);
    double a = fabs(x), b = fabs(y);
    if (SELDOM(isinf(a) || isinf(b))) {
        a = isinf(a) ? 1.0 : 0.0;
        b = isinf(b) ? 1.0 : 0.0;
    }
    uint is_steep = b > a;
    double large = is_steep ? b : a, small = is_steep ? a : b;
    wide_long slope = quotient(wide_of(small), wide_of(large));
    /* Beyond a sixteenth of a turn it is what is missing from there. */
    ulong fixed = fixed_of(slope, 63);
    uint is_far = small == 0.0 ? 0 : fixed > 0x3504f333f9de6484ul;
    if (is_far) {
        wide_long less = normalized(TOP - min(fixed, TOP), 0, 0), more = normalized((TOP >> 1) + (fixed >> 1), 1, 0);
        slope = quotient(less, more);
    }
    fixed = fixed_of(slope, 64);
    ulong z = high_product(fixed, fixed);
    wide_long part = product(slope, normalized(TOP - (high_product(z, atan_series(z)) >> 1), 0, 0));
    part.significand = small == 0.0 ? 0 : part.significand;
    /* From eighths of a turn, backwards or not. */
    uint eighths = is_far, backwards = is_far;
    eighths = is_steep ? 2 - eighths : eighths;
    backwards ^= is_steep;
    uint is_left = signbit(x) ? 1 : 0;
    eighths = is_left ? 4 - eighths : eighths;
    backwards ^= is_left;
    if (eighths != 0) {
        ulong rest = fixed_of(part, 62), whole = eighths * QUARTER_PI;
        part = normalized(backwards ? whole - rest : whole + rest, 1, 0);
    }
    wide_long unit = {ONE_OVER_PI, -2, 0};
    if (in_half_turns)
        part = product(part, unit);
    double result = part.significand == 0 ? 0.0 : packed(part);
    return copysign(result, y);
}

/* The other side of a right triangle with a hypotenuse of one. */
static inline __attribute__((always_inline)) double side(double x) { return sqrt((1.0 - x) * (1.0 + x)); }

#define ANGLES(suffix, in_half_turns) \
    double OVERLOAD atan2##suffix(double y, double x) { return angle_of(y, x, in_half_turns); } \
    double OVERLOAD atan##suffix(double x) { return angle_of(x, 1.0, in_half_turns); } \
    double OVERLOAD asin##suffix(double x) { return angle_of(x, side(x), in_half_turns); } \
    double OVERLOAD acos##suffix(double x) { return angle_of(side(x), x, in_half_turns); } \
    LANES2(double, atan2##suffix, double, double) \
    LANES1(double, atan##suffix, double) LANES1(double, asin##suffix, double) LANES1(double, acos##suffix, double)
ANGLES(, 0)
ANGLES(pi, 1)
