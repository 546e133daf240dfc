/* What the routines are made of: high words of products, leading ones, reciprocals. */

#define INLINE static inline __attribute__((always_inline))

/* What it is given, but clang does not know, so that it makes no other constants of it. */
__attribute__((const)) uint fgpu_opaque(uint x);
#define opaque fgpu_opaque

/* Moves a number by four places, which `far` then is, if none of the four bits from `low` on is set, or not. */
#define BRING_UP(x, low, far) uint far = opaque(opaque((x) >> (low) == 0) << 2); x <<= far
/* The places that four bits, one of which is set, must move for the upper one to be set. */
#define PLACES_IN_FOUR(x) (0x55af >> opaque((x) << 1) & 3)

/* Moves a number left until its leading one is at bit `top`, by so many places; by 31 if it is zero. */
INLINE uint brought_up(uint *number, uint top)
{
    uint x = *number;
    uint sixteen = opaque(opaque(x >> (top - 15) == 0) << 4);
    x <<= sixteen;
    uint eight = opaque(opaque(x >> (top - 7) == 0) << 3);
    x <<= eight;
    BRING_UP(x, top - 3, far);
    uint near = PLACES_IN_FOUR(x >> (top - 3));
    *number = x << near;
    return sixteen + eight + far + near;
}

/* The same for numbers of at most 31 bits and bit 30, the number of places alone. */
INLINE uint places_to_go(uint x) { return brought_up(&x, 30); }

/* The upper word of a product of two. */
INLINE uint high_product(uint a, uint b)
{
    uint al = a & 0xffff, ah = a >> 16, bl = b & 0xffff, bh = b >> 16;
    uint middle = ah * bl + (al * bl >> 16);
    return ah * bh + (middle >> 16) + ((al * bh + (middle & 0xffff)) >> 16);
}

/* About 2^31 / d, and never more, of the upper 16 bits d of a word with its leading one at bit 31: at most 1.2e-4 of it
   is missing. By Newton's iteration from a line. */
INLINE uint reciprocal_step(uint r, uint minus_d) { return r * (minus_d * r >> 16) >> 15; }

INLINE uint reciprocal_of(uint significand)
{
    uint upper = ~(significand >> 16), r = 96000 + upper;
    return reciprocal_step(reciprocal_step(r, upper), upper);
}
