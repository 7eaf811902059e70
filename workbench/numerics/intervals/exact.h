/* Boxes through a straight-line program, WIDTH boxes side by side, every result rounded outwards.
 *
 * An interval [l, h] is kept as (n, h) with n = −l, and everything is computed while the processor rounds upwards: the upper end
 * is then rounded up, and so is n, whereby l is rounded down. Only + − × ÷ √ are made so; IEEE 754 rounds them correctly in every
 * mode. The text relies on the compiler's -frounding-math (no constant is folded, (−a)·b is not made −(a·b)) and on
 * -ffp-contract=off; every operation is a function of its own that reads and writes memory, so none can move across the call that
 * sets the mode. Functions of the C library are called while it rounds to nearest and are then widened by WIDER units in the last
 * place: glibc's manual states at most 2 for them. `interval_walk.py` tries what was compiled before it is used.
 *
 * No bound is ever NaN: ∞ − ∞ and 0·∞ at every corner give everything. `s` is 0 where a function's domain was left.
 */
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define WIDTH 32
#define WIDER 4
#define EACH for (int i = 0; i < WIDTH; ++i)
#define FAR (1.0 / 0.0)
#define APART __attribute__((noinline)) static void

typedef struct {
  double n[WIDTH], h[WIDTH];
  uint8_t s[WIDTH];
} __attribute__((aligned(64))) Slot;

typedef Slot *restrict To;
typedef const Slot *From;

static inline double most(double a, double b) { return a > b ? a : b; }
static inline double least(double a, double b) { return a < b ? a : b; }
static inline double number(double a) { return a == a ? a : FAR; }
static inline void both_sure(To r, From a, From b) { EACH r->s[i] = a->s[i] & b->s[i]; }
static inline void as_sure(To r, From a) { memcpy(r->s, a->s, WIDTH); }

APART op_add(To r, From a, From b) {
  EACH r->n[i] = number(a->n[i] + b->n[i]);
  EACH r->h[i] = number(a->h[i] + b->h[i]);
  both_sure(r, a, b);
}

APART op_sub(To r, From a, From b) {
  EACH r->n[i] = number(a->n[i] + b->h[i]);
  EACH r->h[i] = number(a->h[i] + b->n[i]);
  both_sure(r, a, b);
}

/* A corner 0·∞ loses against the others, which carry the bound; where all four are 0·∞ the result is everything. */
APART op_mul(To r, From a, From b) {
  EACH {
    double an = a->n[i], ah = a->h[i], bn = b->n[i], bh = b->h[i];
    r->h[i] = number(most(most(an * bn, ah * bh), most(-an * bh, -ah * bn)));
    r->n[i] = number(most(most(an * -bn, -ah * bh), most(an * bh, ah * bn)));
  }
  both_sure(r, a, b);
}

APART op_sq(To r, From a) {
  EACH {
    double n = a->n[i], h = a->h[i];
    double small = n <= 0 ? -n : h <= 0 ? -h : 0.0;
    r->h[i] = most(n * n, h * h);
    r->n[i] = -small * small;
  }
  as_sure(r, a);
}

/* The divisor is turned positive; through 0 everything is possible. */
APART op_div(To r, From a, From b) {
  EACH {
    int turned = b->h[i] < 0, through = (b->n[i] >= 0) & (b->h[i] >= 0);
    double an = turned ? a->h[i] : a->n[i], ah = turned ? a->n[i] : a->h[i];
    double low = turned ? -b->h[i] : -b->n[i], high = turned ? b->n[i] : b->h[i];
    double h = number(ah / (ah >= 0 ? low : high)), n = number(an / (an >= 0 ? low : high));
    r->h[i] = through ? FAR : h;
    r->n[i] = through ? FAR : n;
  }
  EACH r->s[i] = a->s[i] & b->s[i] & ((b->n[i] < 0) | (b->h[i] < 0));
}

/* −r + r·2⁻⁵³, rounded upwards, is minus the number below r = √l rounded upwards. */
APART op_sqrt(To r, From a) {
  EACH {
    double low = sqrt(most(-a->n[i], 0.0));
    r->n[i] = low < FAR ? -low + low * 0x1p-53 : -0x1p1023;
    r->h[i] = sqrt(most(a->h[i], 0.0));
  }
  EACH r->s[i] = a->s[i] & (a->n[i] <= 0);
}

APART op_neg(To r, From a) {
  EACH r->n[i] = a->h[i];
  EACH r->h[i] = a->n[i];
  as_sure(r, a);
}

APART op_twice(To r, From a) {
  EACH r->n[i] = 2 * a->n[i];
  EACH r->h[i] = 2 * a->h[i];
  as_sure(r, a);
}

APART op_abs(To r, From a) {
  EACH {
    double n = a->n[i], h = a->h[i];
    r->h[i] = most(n, h);
    r->n[i] = n <= 0 ? n : h <= 0 ? h : 0.0;
  }
  as_sure(r, a);
}

APART op_fmin(To r, From a, From b) {
  EACH r->n[i] = most(a->n[i], b->n[i]);
  EACH r->h[i] = least(a->h[i], b->h[i]);
  both_sure(r, a, b);
}

APART op_fmax(To r, From a, From b) {
  EACH r->n[i] = least(a->n[i], b->n[i]);
  EACH r->h[i] = most(a->h[i], b->h[i]);
  both_sure(r, a, b);
}

/* Truths are 1, 0 or [0, 1]; as sure as what is compared. */
#define COMPARED(name, yes, no)                                             \
  APART op_##name(To r, From a, From b) {                                   \
    EACH {                                                                  \
      double an = a->n[i], ah = a->h[i], bn = b->n[i], bh = b->h[i];        \
      r->n[i] = (yes) ? -1.0 : 0.0;                                         \
      r->h[i] = (no) ? 0.0 : 1.0;                                           \
    }                                                                       \
    both_sure(r, a, b);                                                     \
  }
#define SAME ((-an == ah) & (-bn == bh) & (ah == bh))
#define DIFFERENT ((ah < -bn) | (bh < -an))
COMPARED(lt, ah < -bn, -an >= bh)
COMPARED(le, ah <= -bn, -an > bh)
COMPARED(eq, SAME, DIFFERENT)
COMPARED(ne, DIFFERENT, SAME)
#define TRUE(n, h) (((n) < 0) | ((h) < 0))
#define NEVER(n, h) (((n) == 0) & ((h) == 0))
COMPARED(and, TRUE(an, ah) & TRUE(bn, bh), NEVER(an, ah) | NEVER(bn, bh))
COMPARED(or, TRUE(an, ah) | TRUE(bn, bh), NEVER(an, ah) & NEVER(bn, bh))

APART op_not(To r, From a) {
  EACH r->n[i] = NEVER(a->n[i], a->h[i]) ? -1.0 : 0.0;
  EACH r->h[i] = TRUE(a->n[i], a->h[i]) ? 0.0 : 1.0;
  as_sure(r, a);
}

/* c ? a : b; the hull of both where c is not decided. A mixed condition need not keep its branch inside a domain. */
APART op_select(To r, From c, From a, From b) {
  EACH {
    int yes = TRUE(c->n[i], c->h[i]), no = NEVER(c->n[i], c->h[i]);
    double n = most(a->n[i], b->n[i]), h = most(a->h[i], b->h[i]);
    r->n[i] = yes ? a->n[i] : no ? b->n[i] : n;
    r->h[i] = yes ? a->h[i] : no ? b->h[i] : h;
  }
  EACH {
    uint8_t yes = TRUE(c->n[i], c->h[i]), no = NEVER(c->n[i], c->h[i]);
    r->s[i] = c->s[i] & (a->s[i] | no) & (b->s[i] | yes);
  }
}
