/* A program of operations on boxes (intervals/exact.h, intervals/library.h), WIDTH boxes at a time. */

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

/* `step` is 0 for an input that is the same in all boxes, else 1. What is beyond the last box repeats it. */
static void entered(Slot *s, const double *low, const double *high, int step, long from, long count) {
  EACH {
    long k = step ? from + (i < count ? i : count - 1) : 0;
    s->n[i] = -low[k];
    s->h[i] = high[k];
  }
  memset(s->s, 1, WIDTH);
}

/* One operation on series of `n` coefficients, of which `flat` operands have the first alone. */
static void in_series(int op, Slot *r, From a, From b, From c, int n, int flat_a, int flat_b) {
  Slot other[ORDERS];
  switch (op) {
    case OP_COPY: case OP_NEG: case OP_TWICE:
      for (int k = 0; k < n; ++k) exactly(op, r + k, a + k, b, c);
      return;
    case OP_ADD: case OP_SUB:
      for (int k = 0; k < n; ++k) exactly(op, r + k, a + k, b + k, c);
      return;
    case OP_MUL: series_mul(r, a, b, flat_a, flat_b, n); return;
    case OP_SQ: series_sq(r, a, n); return;
    case OP_DIV: series_div(r, a, b, flat_b, n); return;
    case OP_SQRT: series_sqrt(r, a, n); return;
    case OP_EXP: series_exp(r, a, n); return;
    case OP_TANH: series_tanh(r, a, n); return;
    case OP_ATAN: series_atan(r, a, n); return;
    case OP_LOG: series_log(r, a, n); return;
    case OP_SIN: series_wave(r, other, a, n); return;
    case OP_COS: series_wave(other, r, a, n); return;
    case OP_TAN: series_tan(r, a, n); return;
    case OP_SELECT: case OP_FABS: case OP_FMIN: case OP_FMAX: series_decided(op, r, a, b, c, n); return;
    case OP_LT: case OP_LE: case OP_EQ: case OP_NE: case OP_AND: case OP_OR: case OP_NOT:
      exactly(op, r, a, b, c);
      for (int k = 1; k < n; ++k) series_zero(r + k);
      return;
    case OP_POW:
      if (flat_b) { series_pow(r, a, b, n); return; }
  }
  for (int k = 0; k < n; ++k) series_none(r + k);
}

static void alone(int op, Slot *r, From a, From b, From c) {
  if (op < OP_EXP) {
    exactly(op, r, a, b, c);
    return;
  }
  fesetround(FE_TONEAREST);
  of_the_library(op, r, a, b);
  fesetround(FE_UPWARD);
}

/* Coefficient j of slot k stands at k·orders + j; `flat` says of each slot whether it does not change with t. */
static void executed(const Program *p, int orders, uint8_t *flat, Slot *slot, uint8_t *kink, long total, long from, long count) {
  const int *row = p->code;
  for (int k = 0; k < p->rows; ++k, row += 6) {
    Slot *r = slot + row[1] * orders;
    From a = slot + row[2] * orders, b = slot + row[3] * orders, c = slot + row[4] * orders;
    flat[row[1]] = flat[row[2]] & flat[row[3]] & flat[row[4]];
    if (flat[row[1]]) {
      alone(row[0], r, a, b, c);
      for (int j = 1; j < orders; ++j) series_zero(r + j);
    } else {
      in_series(row[0], r, a, b, c, orders, flat[row[2]], flat[row[3]]);
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

/* Boxes [first, last) of `total`, with `orders` Taylor coefficients each (1: values alone). An input whose later coefficients
 * are NULL does not change with t. `room` has p->slots × orders slots, `flat` p->slots bytes; outputs are rows of `total`
 * numbers, all coefficients of one output after each other; `kink` may be NULL. */
int walked(const Program *p, int orders, const double *const *low, const double *const *high, const int *step, double *out_low,
           double *out_high, uint8_t *out_sure, uint8_t *kink, long total, long first, long last, Slot *room, uint8_t *flat) {
  int before = fegetround();
  if (orders > ORDERS || fesetround(FE_UPWARD)) return 1;
  memset(flat, 1, (size_t)(p->constants + p->inputs));
  for (int k = 0; k < p->constants * orders; ++k) series_zero(room + k);
  for (int k = 0; k < p->constants; ++k) filled(room + k * orders, p->constant[k], p->constant[k]);
  for (long from = first; from < last; from += WIDTH) {
    long count = last - from < WIDTH ? last - from : WIDTH;
    for (int k = 0; k < p->inputs * orders; ++k) {
      Slot *to = room + p->constants * orders + k;
      if (!low[k]) { series_zero(to); continue; }
      entered(to, low[k], high[k], step[k], from, count);
      flat[p->constants + k / orders] &= orders == 1 || k % orders == 0;
    }
    executed(p, orders, flat, room, kink, total, from, count);
    for (int k = 0; k < p->outputs * orders; ++k) {
      long at = k * total + from;
      const Slot *found = room + p->leaving[k / orders] * orders + k % orders;
      given(found, out_low + at, out_high + at, out_sure + at, count);
    }
  }
  fesetround(before);
  return 0;
}
