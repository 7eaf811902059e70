/* A program of operations on boxes (interval_exact.h, interval_library.h), WIDTH boxes at a time. */

/* Names of the operations, in the order of interval_program.py. */
enum {
  OP_COPY, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_SQ, OP_SQRT, OP_NEG, OP_TWICE, OP_FABS, OP_FMIN, OP_FMAX, OP_LT, OP_LE,
  OP_EQ, OP_NE, OP_AND, OP_OR, OP_NOT, OP_SELECT,
  OP_EXP, OP_EXPM1, OP_TANH, OP_ATAN, OP_SINH, OP_ASINH, OP_ERF, OP_ASIN, OP_ACOSH, OP_LOG, OP_LOG1P, OP_ATANH, OP_ACOS,
  OP_COSH, OP_SIN, OP_COS, OP_TAN, OP_ATAN2, OP_POW, OP_SIGN, OP_FLOOR, OP_CEIL
};

static void exactly(int op, Slot *r, From a, From b, From c) {
  switch (op) {
    case OP_COPY: *r = *a; break;
    case OP_ADD: op_add(r, a, b); break;
    case OP_SUB: op_sub(r, a, b); break;
    case OP_MUL: op_mul(r, a, b); break;
    case OP_DIV: op_div(r, a, b); break;
    case OP_SQ: op_sq(r, a); break;
    case OP_SQRT: op_sqrt(r, a); break;
    case OP_NEG: op_neg(r, a); break;
    case OP_TWICE: op_twice(r, a); break;
    case OP_FABS: op_abs(r, a); break;
    case OP_FMIN: op_fmin(r, a, b); break;
    case OP_FMAX: op_fmax(r, a, b); break;
    case OP_LT: op_lt(r, a, b); break;
    case OP_LE: op_le(r, a, b); break;
    case OP_EQ: op_eq(r, a, b); break;
    case OP_NE: op_ne(r, a, b); break;
    case OP_AND: op_and(r, a, b); break;
    case OP_OR: op_or(r, a, b); break;
    case OP_NOT: op_not(r, a); break;
    case OP_SELECT: op_select(r, a, b, c); break;
  }
}

static void of_the_library(int op, Slot *r, From a, From b) {
  switch (op) {
    case OP_EXP: op_exp(r, a); break;
    case OP_EXPM1: op_expm1(r, a); break;
    case OP_TANH: op_tanh(r, a); break;
    case OP_ATAN: op_atan(r, a); break;
    case OP_SINH: op_sinh(r, a); break;
    case OP_ASINH: op_asinh(r, a); break;
    case OP_ERF: op_erf(r, a); break;
    case OP_ASIN: op_asin(r, a); break;
    case OP_ACOSH: op_acosh(r, a); break;
    case OP_LOG: op_log(r, a); break;
    case OP_LOG1P: op_log1p(r, a); break;
    case OP_ATANH: op_atanh(r, a); break;
    case OP_ACOS: op_acos(r, a); break;
    case OP_COSH: op_cosh(r, a); break;
    case OP_SIN: op_sin(r, a); break;
    case OP_COS: op_cos(r, a); break;
    case OP_TAN: op_tan(r, a); break;
    case OP_ATAN2: op_atan2(r, a, b); break;
    case OP_POW: op_pow(r, a, b); break;
    case OP_SIGN: op_sign(r, a); break;
    case OP_FLOOR: op_floor(r, a); break;
    case OP_CEIL: op_ceil(r, a); break;
  }
}

/* Where an operation's kink lies inside the box: a branch not decided, |x| and sign about 0, two numbers that may change order. */
static void straddled(int op, From a, From b, uint8_t *told) {
  EACH {
    double an = a->n[i], ah = a->h[i], bn = b->n[i], bh = b->h[i];
    switch (op) {
      case OP_SELECT: told[i] = !TRUE(an, ah) & !NEVER(an, ah); break;
      case OP_FABS: told[i] = (an > 0) & (ah > 0); break;
      case OP_SIGN: told[i] = sign(-an) != sign(ah); break;
      case OP_FLOOR: told[i] = floor(-an) != floor(ah); break;
      case OP_CEIL: told[i] = ceil(-an) != ceil(ah); break;
      case OP_ATAN2: told[i] = (bn >= 0) & (an >= 0) & (ah >= 0); break;
      default: told[i] = (ah > -bn) & (bh > -an); break;
    }
  }
}

/* A program: rows of (operation, to, a, b, c, kink or −1), over slots of which the first ones are constants and inputs. */
typedef struct {
  int rows, slots, constants, inputs, outputs, kinks;
  const int *code;          /* rows × 6 */
  const double *constant;   /* constants */
  const int *leaving;       /* slot of each output */
} Program;

static void filled(Slot *s, double low, double high) {
  EACH s->n[i] = -low;
  EACH s->h[i] = high;
  memset(s->s, 1, WIDTH);
}

/* `step` is 0 for an input that is the same in all boxes, else 1. What is beyond the last box repeats it. */
static void entered(Slot *s, const double *low, const double *high, int step, long from, long count) {
  EACH {
    long k = step ? from + (i < count ? i : count - 1) : 0;
    s->n[i] = -low[k];
    s->h[i] = high[k];
  }
  memset(s->s, 1, WIDTH);
}

static void executed(const Program *p, Slot *slot, uint8_t *kink, long total, long from, long count) {
  const int *row = p->code;
  for (int k = 0; k < p->rows; ++k, row += 6) {
    Slot *r = slot + row[1];
    From a = slot + row[2], b = slot + row[3], c = slot + row[4];
    if (row[0] < OP_EXP) {
      exactly(row[0], r, a, b, c);
    } else {
      fesetround(FE_TONEAREST);
      of_the_library(row[0], r, a, b);
      fesetround(FE_UPWARD);
    }
    if (kink && row[5] >= 0) {
      uint8_t told[WIDTH];
      straddled(row[0], a, b, told);
      memcpy(kink + row[5] * total + from, told, (size_t)count);
    }
  }
}

static void given(const Slot *s, double *low, double *high, uint8_t *sure, long count) {
  for (long i = 0; i < count; ++i) {
    low[i] = -s->n[i];
    high[i] = s->h[i];
    sure[i] = s->s[i] && (low[i] > -FAR || high[i] < FAR);
  }
}

/* Boxes [first, last) of `total`; `room` has p->slots slots. Outputs are rows of `total` numbers; `kink` may be NULL. */
int walked(const Program *p, const double *const *low, const double *const *high, const int *step, double *out_low,
           double *out_high, uint8_t *out_sure, uint8_t *kink, long total, long first, long last, Slot *room) {
  int before = fegetround();
  if (fesetround(FE_UPWARD)) return 1;
  for (int k = 0; k < p->constants; ++k) filled(room + k, p->constant[k], p->constant[k]);
  for (long from = first; from < last; from += WIDTH) {
    long count = last - from < WIDTH ? last - from : WIDTH;
    for (int k = 0; k < p->inputs; ++k)
      entered(room + p->constants + k, low[k], high[k], step[k], from, count);
    executed(p, room, kink, total, from, count);
    for (int k = 0; k < p->outputs; ++k) {
      long at = k * total + from;
      given(room + p->leaving[k], out_low + at, out_high + at, out_sure + at, count);
    }
  }
  fesetround(before);
  return 0;
}
