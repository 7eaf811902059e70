/* Taylor coefficients of boxes: y(t) = y_0 + y_1 t + … + y_K t^K of each operation from those of its operands.
 *
 * Given the coefficients at one t these are those at that t; given, for every order, a box of them over a range of t, they are
 * boxes over that range, and the one of order K is what the remainder of Taylor's theorem needs. Each recurrence compares the
 * coefficients of a differential equation of the operation [Moore09]:
 *
 *   y = a b:  y_k = Σ a_i b_{k−i}          y = a / b: b_0 y_k = a_k − Σ_{i≥1} b_i y_{k−i}       y = √a:  y² = a
 *   y = eᵃ:   k y_k = Σ i a_i y_{k−i}      y = tanh a: y' = (1 − y²) a'      y = atan a: (1 + a²) y' = a'      y = ln a: a y' = a'
 *
 * A kink inside the box, or an operation without a rule here, gives everything, not sure.
 */
#define ORDERS 12 /* most of K + 1 */

static void series_none(Slot *r) {
  EACH r->n[i] = FAR;
  EACH r->h[i] = FAR;
  memset(r->s, 0, WIDTH);
}

static void series_zero(Slot *r) {
  memset(r, 0, sizeof *r);
  memset(r->s, 1, WIDTH);
}

/* r + a b, or r − a b */
APART series_more(To r, From a, From b) {
  EACH {
    double an = a->n[i], ah = a->h[i], bn = b->n[i], bh = b->h[i];
    r->h[i] = number(r->h[i] + number(most(most(an * bn, ah * bh), most(-an * bh, -ah * bn))));
    r->n[i] = number(r->n[i] + number(most(most(an * -bn, -ah * bh), most(an * bh, ah * bn))));
  }
  EACH r->s[i] &= a->s[i] & b->s[i];
}

APART series_less(To r, From a, From b) {
  EACH {
    double an = a->n[i], ah = a->h[i], bn = b->n[i], bh = b->h[i];
    r->n[i] = number(r->n[i] + number(most(most(an * bn, ah * bh), most(-an * bh, -ah * bn))));
    r->h[i] = number(r->h[i] + number(most(most(an * -bn, -ah * bh), most(an * bh, ah * bn))));
  }
  EACH r->s[i] &= a->s[i] & b->s[i];
}

APART series_times(To r, From a, double whole) {
  EACH r->n[i] = number(a->n[i] * whole);
  EACH r->h[i] = number(a->h[i] * whole);
  as_sure(r, a);
}

APART series_over(To r, From a, double whole) {
  EACH r->n[i] = a->n[i] / whole;
  EACH r->h[i] = a->h[i] / whole;
  as_sure(r, a);
}

static void nearest(void (*f)(Slot *, From), Slot *r, From a) {
  fesetround(FE_TONEAREST);
  f(r, a);
  fesetround(FE_UPWARD);
}

/* A factor that does not change with t has one coefficient only. */
static void series_mul(Slot *r, From a, From b, int flat_a, int flat_b, int n) {
  for (int k = 0; k < n; ++k) {
    if (flat_a) { op_mul(r + k, a, b + k); continue; }
    op_mul(r + k, a + k, b);
    for (int i = 0; i < k && !flat_b; ++i) series_more(r + k, a + i, b + k - i);
  }
}

static void series_sq(Slot *r, From a, int n) {
  Slot half;
  op_sq(r, a);
  for (int k = 1; k < n; ++k) {
    series_zero(&half);
    for (int i = 0; 2 * i < k; ++i) series_more(&half, a + i, a + k - i);
    op_twice(r + k, &half);
    if (k % 2 == 0) {
      op_sq(&half, a + k / 2);
      Slot both;
      op_add(&both, r + k, &half);
      r[k] = both;
    }
  }
}

static void series_div(Slot *r, From a, From b, int flat_b, int n) {
  Slot rest;
  for (int k = 0; k < n; ++k) {
    rest = a[k];
    for (int i = 1; i <= k && !flat_b; ++i) series_less(&rest, b + i, r + k - i);
    op_div(r + k, &rest, b);
  }
}

static void series_sqrt(Slot *r, From a, int n) {
  Slot rest, twice;
  op_sqrt(r, a);
  op_twice(&twice, r);
  for (int k = 1; k < n; ++k) {
    rest = a[k];
    for (int i = 1; i < k; ++i) series_less(&rest, r + i, r + k - i);
    op_div(r + k, &rest, &twice);
  }
}

/* d[i] = i a_i, the derivative's coefficients */
static void derived(Slot *d, From a, int n) {
  for (int i = 1; i < n; ++i) series_times(d + i, a + i, i);
}

static void along(Slot *r, const Slot *d, From f, int k) {
  Slot sum;
  op_mul(&sum, d + 1, f + k - 1);
  for (int i = 2; i <= k; ++i) series_more(&sum, d + i, f + k - i);
  series_over(r, &sum, k);
}

static void series_exp(Slot *r, From a, int n) {
  Slot d[ORDERS];
  derived(d, a, n);
  nearest(op_exp, r, a);
  for (int k = 1; k < n; ++k) along(r + k, d, r, k);
}

static void series_tanh(Slot *r, From a, int n) {
  Slot d[ORDERS], slope[ORDERS], square[ORDERS], one;
  filled(&one, 1.0, 1.0);
  derived(d, a, n);
  nearest(op_tanh, r, a);
  for (int k = 1; k < n; ++k) {
    series_sq(square, r, k);
    if (k == 1) op_sub(slope, &one, square);
    else op_neg(slope + k - 1, square + k - 1);
    along(r + k, d, slope, k);
  }
}

static void series_atan(Slot *r, From a, int n) {
  Slot g[ORDERS], rest, term, one;
  filled(&one, 1.0, 1.0);
  series_sq(g, a, n);
  term = g[0];
  op_add(g, &term, &one);
  nearest(op_atan, r, a);
  for (int k = 1; k < n; ++k) {
    series_times(&rest, a + k, k);
    for (int i = 1; i < k; ++i) {
      series_times(&term, r + i, i);
      series_less(&rest, &term, g + k - i);
    }
    op_div(&term, &rest, g);
    series_over(r + k, &term, k);
  }
}

static void series_log(Slot *r, From a, int n) {
  Slot rest, term;
  nearest(op_log, r, a);
  for (int k = 1; k < n; ++k) {
    series_times(&rest, a + k, k);
    for (int i = 1; i < k; ++i) {
      series_times(&term, r + i, i);
      series_less(&rest, &term, a + k - i);
    }
    op_div(&term, &rest, a);
    series_over(r + k, &term, k);
  }
}

static void series_wave(Slot *s, Slot *c, From a, int n) {
  Slot d[ORDERS], minus;
  derived(d, a, n);
  nearest(op_sin, s, a);
  nearest(op_cos, c, a);
  for (int k = 1; k < n; ++k) {
    along(s + k, d, c, k);
    along(&minus, d, s, k);
    op_neg(c + k, &minus);
  }
}

static void series_tan(Slot *r, From a, int n) {
  Slot s[ORDERS], c[ORDERS], top;
  series_wave(s, c, a, n);
  series_div(r, s, c, 0, n);
  nearest(op_tan, &top, a);
  r[0] = top;
}

/* a^b with b flat: exp(b ln a); whole powers up to 4 are products, of any sign. */
static void series_pow(Slot *r, From a, From b, int n) {
  Slot x[ORDERS], y[ORDERS];
  double e = b->h[0];
  if (-b->n[0] == e && (e == 2 || e == 3 || e == 4)) {
    series_sq(e == 3 ? x : r, a, n);
    if (e == 3) series_mul(r, x, a, 0, 0, n);
    if (e == 4) {
      memcpy(x, r, sizeof(Slot) * (size_t)n);
      series_sq(r, x, n);
    }
    return;
  }
  series_log(x, a, n);
  series_mul(y, b, x, 1, 0, n);
  series_exp(r, y, n);
}

/* One of two series, where the first coefficients over the box say which: `yes`, `no`, else everything. */
static void series_either(Slot *r, From a, From b, const uint8_t *yes, const uint8_t *no, int n) {
  for (int k = 0; k < n; ++k) EACH {
    int none = !yes[i] & !no[i];
    r[k].n[i] = none ? FAR : yes[i] ? a[k].n[i] : b[k].n[i];
    r[k].h[i] = none ? FAR : yes[i] ? a[k].h[i] : b[k].h[i];
    r[k].s[i] = !none & (yes[i] ? a[k].s[i] : b[k].s[i]);
  }
}

static void series_decided(int op, Slot *r, From a, From b, From c, int n) {
  uint8_t yes[WIDTH], no[WIDTH];
  Slot other[ORDERS];
  EACH {
    double an = a->n[i], ah = a->h[i], bn = b->n[i], bh = b->h[i];
    int true = TRUE(an, ah), never = NEVER(an, ah), below = ah <= -bn, above = bh <= -an;
    yes[i] = (uint8_t)(op == OP_SELECT ? a->s[i] & true : op == OP_FABS ? an <= 0 : op == OP_FMIN ? below : above);
    no[i] = (uint8_t)(op == OP_SELECT ? a->s[i] & never : op == OP_FABS ? ah <= 0 : op == OP_FMIN ? above : below);
  }
  if (op == OP_FABS) {
    for (int k = 0; k < n; ++k) op_neg(other + k, a + k);
    series_either(r, a, other, yes, no, n);
  } else if (op == OP_SELECT) {
    series_either(r, b, c, yes, no, n);
  } else {
    series_either(r, a, b, yes, no, n);
  }
}
