/* Library functions of boxes, one box at a time, while the processor rounds to nearest; widened by WIDER units in the last place
 * and cut where the function's own range ends. */

static double wider(double x, double towards) {
  for (int k = 0; k < WIDER; ++k) x = nextafter(x, towards);
  return x;
}

static void put(Slot *r, int i, double low, double high, int sure, double floor, double ceiling) {
  int whole = low <= high;
  r->n[i] = whole ? -fmax(wider(low, -FAR), floor) : FAR;
  r->h[i] = whole ? fmin(wider(high, FAR), ceiling) : FAR;
  r->s[i] = (uint8_t)sure;
}

/* A rising function whose domain is [from, to]: what sticks out is cut off, and not sure. */
#define RISING(name, f, from, to, floor, ceiling)                                         \
  APART op_##name(Slot *r, From a) {                                                      \
    for (int i = 0; i < WIDTH; ++i) {                                                     \
      double low = -a->n[i], high = a->h[i];                                              \
      int inside = (low >= (from)) & (high <= (to));                                      \
      double x = fmin(fmax(low, from), to), y = fmin(fmax(high, from), to);               \
      put(r, i, f(x), f(y), a->s[i] & inside, floor, ceiling);                            \
    }                                                                                     \
  }
RISING(exp, exp, -FAR, FAR, 0.0, FAR)
RISING(expm1, expm1, -FAR, FAR, -1.0, FAR)
RISING(tanh, tanh, -FAR, FAR, -1.0, 1.0)
RISING(atan, atan, -FAR, FAR, -FAR, FAR)
RISING(sinh, sinh, -FAR, FAR, -FAR, FAR)
RISING(asinh, asinh, -FAR, FAR, -FAR, FAR)
RISING(erf, erf, -FAR, FAR, -1.0, 1.0)
RISING(asin, asin, -1.0, 1.0, -FAR, FAR)
RISING(acosh, acosh, 1.0, FAR, 0.0, FAR)
RISING(log, log, 0x1p-1074, FAR, -FAR, FAR)
RISING(log1p, log1p, -0x1.fffffffffffffp-1, FAR, -FAR, FAR)
RISING(atanh, atanh, -0x1.fffffffffffffp-1, 0x1.fffffffffffffp-1, -FAR, FAR)

APART op_acos(Slot *r, From a) {
  for (int i = 0; i < WIDTH; ++i) {
    double low = fmax(-a->n[i], -1.0), high = fmin(a->h[i], 1.0);
    int inside = (-a->n[i] >= -1.0) & (a->h[i] <= 1.0);
    put(r, i, acos(high), acos(low), a->s[i] & inside, 0.0, FAR);
  }
}

APART op_cosh(Slot *r, From a) {
  for (int i = 0; i < WIDTH; ++i) {
    double n = a->n[i], h = a->h[i], low = n <= 0 ? -n : h <= 0 ? h : 0.0;
    put(r, i, cosh(low), cosh(fmax(n, h)), a->s[i], 1.0, FAR);
  }
}

#define PI 3.14159265358979323846
/* Whether a number `offset` + 2kπ lies in [low, high]; `slack` covers the rounding of π and of the quotients. */
static int meets(double low, double high, double offset, double slack) {
  return floor((high + slack - offset) / (2 * PI)) >= ceil((low - slack - offset) / (2 * PI));
}

APART wave(Slot *r, From a, double (*f)(double), double top) {
  for (int i = 0; i < WIDTH; ++i) {
    double low = -a->n[i], high = a->h[i], size = fmax(fabs(low), fabs(high));
    int wide = !(size <= 1e6);
    double x = wide ? 0.0 : f(low), y = wide ? 0.0 : f(high), slack = 1e-12 * (1 + size);
    double least = wide || meets(low, high, top + PI, slack) ? -1.0 : fmin(x, y);
    double most = wide || meets(low, high, top, slack) ? 1.0 : fmax(x, y);
    put(r, i, least, most, a->s[i], -1.0, 1.0);
  }
}
APART op_sin(Slot *r, From a) { wave(r, a, sin, PI / 2); }
APART op_cos(Slot *r, From a) { wave(r, a, cos, 0.0); }

APART op_tan(Slot *r, From a) {
  for (int i = 0; i < WIDTH; ++i) {
    double low = -a->n[i], high = a->h[i], size = fmax(fabs(low), fabs(high));
    double slack = 1e-12 * (1 + size);
    int pole = !(size <= 1e6) || meets(2 * low, 2 * high, PI, 2 * slack);
    put(r, i, pole ? -FAR : tan(low), pole ? FAR : tan(high), a->s[i] & !pole, -FAR, FAR);
  }
}

/* Across the cut (the negative half of the first axis) every angle is possible. */
APART op_atan2(Slot *r, From y, From x) {
  for (int i = 0; i < WIDTH; ++i) {
    double y0 = -y->n[i], y1 = y->h[i], x0 = -x->n[i], x1 = x->h[i];
    int cut = (x0 <= 0) & (y0 <= 0) & (y1 >= 0), sure = y->s[i] & x->s[i];
    double a = atan2(y0, x0), b = atan2(y0, x1), c = atan2(y1, x0), d = atan2(y1, x1);
    double low = cut ? -PI : fmin(fmin(a, b), fmin(c, d));
    double high = cut ? PI : fmax(fmax(a, b), fmax(c, d));
    put(r, i, low, high, sure, -FAR, FAR);
  }
}

/* Whole exponents ≥ 0 of any base; every other exponent of a base above 0, where aᵇ is monotone in a and in b. */
APART op_pow(Slot *r, From a, From b) {
  for (int i = 0; i < WIDTH; ++i) {
    double a0 = -a->n[i], a1 = a->h[i], b0 = -b->n[i], b1 = b->h[i];
    int whole = (b0 == b1) & (b0 >= 0) & (b0 == rint(b0));
    int even = whole && fmod(b0, 2.0) == 0;
    double x = whole ? a0 : fmax(a0, 0.0), y = whole ? a1 : fmax(a1, 0.0);
    double p = pow(x, b0), q = pow(x, b1), u = pow(y, b0), v = pow(y, b1);
    double low = even && a0 < 0 && a1 > 0 ? 0.0 : fmin(fmin(p, q), fmin(u, v));
    double high = fmax(fmax(p, q), fmax(u, v));
    double floor = even || x >= 0 ? 0.0 : -FAR;
    put(r, i, low, high, a->s[i] & b->s[i] & (whole || a0 > 0), floor, FAR);
  }
}

#define STEPPED(name, f)                                                    \
  APART op_##name(Slot *r, From a) {                                                      \
    for (int i = 0; i < WIDTH; ++i) {                                       \
      r->n[i] = -f(-a->n[i]);                                               \
      r->h[i] = f(a->h[i]);                                                 \
    }                                                                       \
    as_sure(r, a);                                                          \
  }
static inline double sign(double x) { return (x > 0) - (x < 0); }
STEPPED(sign, sign)
STEPPED(floor, floor)
STEPPED(ceil, ceil)

/* Names of the operations, in the order of interval_program.py. */
enum {
  OP_COPY, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_SQ, OP_SQRT, OP_NEG, OP_TWICE, OP_FABS, OP_FMIN, OP_FMAX, OP_LT, OP_LE,
  OP_EQ, OP_NE, OP_AND, OP_OR, OP_NOT, OP_SELECT,
  OP_EXP, OP_EXPM1, OP_TANH, OP_ATAN, OP_SINH, OP_ASINH, OP_ERF, OP_ASIN, OP_ACOSH, OP_LOG, OP_LOG1P, OP_ATANH, OP_ACOS,
  OP_COSH, OP_SIN, OP_COS, OP_TAN, OP_ATAN2, OP_POW, OP_SIGN, OP_FLOOR, OP_CEIL
};

static void filled(Slot *s, double low, double high) {
  EACH s->n[i] = -low;
  EACH s->h[i] = high;
  memset(s->s, 1, WIDTH);
}
