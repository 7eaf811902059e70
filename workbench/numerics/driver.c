/* Fixed-step loop around the generated functions: sample, hold, integrate, log. Everything else is in the expressions.
 *
 * At t_k = k T: log row k of the state after the jump; then two segments, n1 steps of h1 up to the second jump (`release`,
 * when n1 > 0), n2 steps of h2 up to t_{k+1}. Inputs: W, one row a sample; F, rows at every stage time of the sample's flow,
 * or NULL when the flow takes the sample's row.
 *
 * A `real` is one number, or with LANES > 1 a vector of numbers, one for each of as many runs (lanes.h): the same text integrates
 * one run or LANES of them. What a lane decides it decides by `CHOOSE`, a branch is taken when any lane asks for it, and a lane
 * that does not is left as it was: every lane makes the operations, and the numbers, of a run of its own.
 */
/* WSTRIDE: NW when the flow's inputs are given at stage times, 0 when it takes the sample's row */
#define CALL(f, t_, x_, w_, y_) do { const real *arg[4] = {(t_), (x_), (w_), c}; real *res[1] = {(y_)}; f(arg, res, 0, work, 0); } while (0)

/* SIDED: the place in c where a loop with its variation looks how far before or after a stage (s) it takes derivatives of the flow,
 * so that a step that ends on a kink takes those of its own side (varied.py). */
#ifdef SIDED
#define SIDE(s) (((real *)c)[SIDED] = (s))
#else
#define SIDE(s)
#endif

static flag finite_all(const real *x, int n) {
  flag all = ALL_LANES;
  for (int i = 0; i < n; ++i) all &= x[i] - x[i] == 0.0;
  return all;
}

/* x = y in the lanes told */
static void take(flag lanes, real *x, const real *y, int n) {
  for (int i = 0; i < n; ++i) x[i] = CHOOSE(lanes, y[i], x[i]);
}

/* A step takes [x, e], e the power integrals, from t to t + h; w0, wm, w1 are the inputs at its beginning, middle and end. Only
 * the first NI states move between jumps. g0, g1: the guards at the beginning and at the last stage. */
#define NF (NI + NQ + NG) /* what the flow gives */
#define NF1 (NF + 1)

/* The classical method of order four from the flow k1 at the beginning on; k4: the flow at its last stage. */
static void classical(real t, real h, real *x, real *e, const real *wm, const real *w1, const real *c, real *work, const real *k1,
                      real *k4) {
  real k2[NF1], k3[NF1], y[NX + 1], tm = t + 0.5 * h, te = t + h;
  for (int i = NI; i < NX; ++i) y[i] = x[i];
  SIDE(EACH(0.0));
  for (int i = 0; i < NI; ++i) y[i] = x[i] + 0.5 * h * k1[i];
  CALL(flow, &tm, y, wm, k2);
  for (int i = 0; i < NI; ++i) y[i] = x[i] + 0.5 * h * k2[i];
  CALL(flow, &tm, y, wm, k3);
  for (int i = 0; i < NI; ++i) y[i] = x[i] + h * k3[i];
  SIDE(-HAIR * h);
  CALL(flow, &te, y, w1, k4);
  for (int i = 0; i < NI; ++i) x[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
  for (int i = 0; i < NQ; ++i) e[i] += h / 6.0 * (k1[NI + i] + 2.0 * k2[NI + i] + 2.0 * k3[NI + i] + k4[NI + i]);
}

#if NS == 0
typedef char weighed; /* nothing is kept from step to step */
#define NOTHING_YET 0

/* the classical method of order four has nothing to keep */
static void step(real t, real h, real *x, real *e, const real *w0, const real *wm, const real *w1, const real *c, real *work,
                 real *g0, real *g1, weighed *kept) {
  real k1[NF1], k4[NF1];
  SIDE(HAIR * h);
  CALL(flow, &t, x, w0, k1);
  classical(t, h, x, e, wm, w1, c, work, k1, k4);
  for (int i = 0; i < NG; ++i) g0[i] = k1[NI + NQ + i], g1[i] = k4[NI + NQ + i];
}
#else
/* The exponential method of exponential.py, in its letters, on NB blocks of stiff states: block b has the stiff states
 * BLOCK_AT[b] … BLOCK_AT[b + 1] − 1 and the entries ENTRY_AT[b] … of J, column by column. */
#define MM (MB * MB)
typedef int (*generated)(const real **, real **, casadi_int *, real *, int);
static const int stiff_at[NS] = STIFF_AT, block_at[NB + 1] = BLOCK_AT, entry_at[NB + 1] = ENTRY_AT;
static const generated series[NB] = SERIES, doubled[NB] = DOUBLED, weights[NB] = WEIGHTS;
enum { ALPHA, BETA, GAMMA, DELTA, EPSILON, ZETA, ETA, THETA, ALL };
static const double plain[ALL] = PLAIN;
/* of the latest Z, which often stays: in which lanes it is gentle, and, where they were asked for, its weights K */
typedef struct { real Z[NJ], K[ALL * NJ]; flag gentle[NB]; int known[NB], weighed[NB]; } weighed;
#define NOTHING_YET {{0}, {0}, {0}, {0}, {0}}
#define INLINE static inline __attribute__((always_inline))
#if MB <= 3
#define EVERY(i, n) _Pragma("GCC unroll 4") for (int i = 0; i < (n); ++i)
#else
#define EVERY(i, n) for (int i = 0; i < (n); ++i)
#endif

static void weigh(int b, int m, const real *Z, real *K, real *work) {
  real z[MM], half[4 * MM], whole[4 * MM], norm = EACH(0.0), scale = EACH(0.5), doublings = EACH(0.0);
  const real *arg[2] = {z}; real *res[1] = {half};
  for (int i = 0; i < m; ++i) {
    real row = EACH(0.0);
    for (int j = 0; j < m; ++j) row += LANED(fabs)(Z[i + m * j]);
    norm = CHOOSE(row > norm, row, norm);
  }
  for (int n = 0; n < DOUBLINGS - 1; ++n) {
    flag large = norm * scale > 0.5;
    if (!ANY(large)) break;
    scale = CHOOSE(large, 0.5 * scale, scale);
    doublings = CHOOSE(large, doublings + 1.0, doublings);
  }
  for (int i = 0; i < m * m; ++i) z[i] = scale * Z[i];
  series[b](arg, res, 0, work, 0);
  arg[0] = half; res[0] = whole;
  for (flag left = doublings > 0.0; ANY(left); doublings -= 1.0, left = doublings > 0.0) {
    doubled[b](arg, res, 0, work, 0);
    take(left, half, whole, 4 * m * m);
  }
  doubled[b](arg, res, 0, work, 0);
  arg[1] = whole; res[0] = K;
  weights[b](arg, res, 0, work, 0);
}

/* y = x + h Σ_q K_which[q] v_q on moving states */
INLINE void move(real h, const real *x, int n, const int *which, const real *const *v, const weighed *kept, real *y) {
  real s[NI];
  for (int i = 0; i < NI; ++i) {
    s[i] = plain[which[0]] * v[0][i];
    EVERY(q, n - 1) s[i] += plain[which[q + 1]] * v[q + 1][i];
  }
  EVERY(b, NB) {
    const int *at = stiff_at + block_at[b], m = block_at[b + 1] - block_at[b];
    EVERY(i, m) {
      s[at[i]] = EACH(0.0);
      EVERY(q, n) EVERY(j, m) s[at[i]] += kept->K[ALL * entry_at[b] + which[q] * m * m + i + m * j] * v[q][at[j]];
    }
  }
  for (int i = 0; i < NI; ++i) y[i] = x[i] + h * s[i];
}

/* the flow f at y becomes D = f − f_0 − J (y − x) */
INLINE void beyond(const real *J, const real *x, const real *y, const real *f0, real *f) {
  for (int i = 0; i < NI + NQ; ++i) f[i] -= f0[i];
  EVERY(b, NB) {
    const int *at = stiff_at + block_at[b], m = block_at[b + 1] - block_at[b];
    EVERY(j, m) EVERY(i, m) f[at[i]] -= J[entry_at[b] + i + m * j] * (y[at[j]] - x[at[j]]);
  }
}

#define MOVE(y_, ...) do { const int which[] = {__VA_ARGS__}; move(h, x, sizeof which / sizeof *which, which, v, kept, y_); } while (0)

/* The exponential method from the flow f0 at the beginning on, with J behind it; f4: the flow at the end's stage. */
static void exponential(real t, real h, real *x, real *e, const real *wm, const real *w1, const real *c, real *work, const real *f0,
                        real *f4, weighed *kept) {
  real f2[NF1], f3[NF1], f5[NF1], y[NX + 1], tm = t + 0.5 * h, te = t + h;
  const real *J = f0 + NF, *v[3] = {f0, f2, f4};
  for (int b = 0; b < NB; ++b) {
    if (!kept->weighed[b]) weigh(b, block_at[b + 1] - block_at[b], kept->Z + entry_at[b], kept->K + ALL * entry_at[b], work);
    kept->weighed[b] = 1;
  }
  for (int i = NI; i < NX; ++i) y[i] = x[i];
  SIDE(EACH(0.0));
  MOVE(y, ALPHA);
  CALL(flow, &tm, y, wm, f2);
  beyond(J, x, y, f0, f2);
  MOVE(y, ALPHA, BETA);
  CALL(flow, &tm, y, wm, f3);
  beyond(J, x, y, f0, f3);
  for (int i = 0; i < NI; ++i) f2[i] += f3[i];
  MOVE(y, GAMMA, DELTA);
  SIDE(-HAIR * h);
  CALL(flow, &te, y, w1, f4);
  SIDE(EACH(0.0));
  beyond(J, x, y, f0, f4);
  MOVE(y, ALPHA, EPSILON, ZETA);
  CALL(flow, &tm, y, wm, f5);
  beyond(J, x, y, f0, f5);
  v[1] = f4; v[2] = f5;
  MOVE(x, GAMMA, ETA, THETA);
  for (int i = NI; i < NI + NQ; ++i) e[i - NI] += h * (plain[GAMMA] * f0[i] + plain[ETA] * f4[i] + plain[THETA] * f5[i]);
}

/* lanes in which v > 0 has |Z|v < GENTLE v, so that no eigenvalue of Z is larger; v = (GENTLE + |Z|)ⁿ 1 with n = BALANCED */
static flag is_gentle(int m, const real *Z) {
  real v[MB], u[MB];
  flag all = ALL_LANES;
  for (int i = 0; i < m; ++i) v[i] = EACH(1.0);
  for (int n = 0; n <= BALANCED; ++n) {
    for (int i = 0; i < m; ++i) {
      u[i] = EACH(0.0);
      for (int j = 0; j < m; ++j) u[i] += LANED(fabs)(Z[i + m * j]) * v[j];
    }
    if (n < BALANCED) for (int i = 0; i < m; ++i) v[i] = GENTLE * v[i] + u[i];
  }
  for (int i = 0; i < m; ++i) all &= u[i] < GENTLE * v[i];
  return all;
}

/* Z = hJ is taken down; lanes in which every block of it is gentle, and the step short */
static flag look(real h, const real *J, weighed *kept) {
  flag all = ALL_LANES & (h <= SHORT);
  for (int b = 0; b < NB; ++b) {
    int same = kept->known[b];
    for (int i = entry_at[b]; i < entry_at[b + 1]; ++i) if (ANY(kept->Z[i] != h * J[i])) kept->Z[i] = h * J[i], same = 0;
    if (!same) {
      kept->gentle[b] = is_gentle(block_at[b + 1] - block_at[b], kept->Z + entry_at[b]);
      kept->weighed[b] = 0;
    }
    kept->known[b] = 1;
    all &= kept->gentle[b];
  }
  return all;
}

static void step(real t, real h, real *x, real *e, const real *w0, const real *wm, const real *w1, const real *c, real *work,
                 real *g0, real *g1, weighed *kept) {
  real f0[NF1 + NJ], last[NF1], x1[NX + 1], e1[NQ + 1], last1[NF1];
  SIDE(HAIR * h);
  CALL(first, &t, x, w0, f0); /* the flow, and J behind it */
  flag easy = look(h, f0 + NF, kept);
  for (int i = 0; i < NX; ++i) x1[i] = x[i];
  for (int i = 0; i < NQ; ++i) e1[i] = e[i];
  if (ANY(~easy & ALL_LANES)) exponential(t, h, x, e, wm, w1, c, work, f0, last, kept);
  if (ANY(easy)) {
    classical(t, h, x1, e1, wm, w1, c, work, f0, last1);
    take(easy, x, x1, NX);
    take(easy, e, e1, NQ);
    take(easy, last, last1, NF);
  }
  for (int i = 0; i < NG; ++i) g0[i] = f0[NI + NQ + i], g1[i] = last[NI + NQ + i];
}
#endif

#if NG == 0
static void advance(real t, real h, real *x, real *e, const real *w, const real *c, real *work, weighed *kept) {
  step(t, h, x, e, w, w + WSTRIDE, w + 2 * WSTRIDE, c, work, 0, 0, kept);
}
#else
/* the step from fraction a of its length to b, with inputs on the parabola through its stages */
static void part(real t, real h, real a, real b, real *x, real *e, const real *w, const real *c, real *work, real *g0, real *g1,
                 weighed *kept) {
#if WSTRIDE > 0
  real at[3][WSTRIDE];
  flag inside = (a > 0.0) | (b < 1.0);
  if (ANY(inside)) {
    for (int k = 0; k < 3; ++k) {
      real s = a + 0.5 * k * (b - a);
      for (int i = 0; i < WSTRIDE; ++i) {
        real on = (1.0 - s) * (1.0 - 2.0 * s) * w[i] + 4.0 * s * (1.0 - s) * w[WSTRIDE + i] + s * (2.0 * s - 1.0) * w[2 * WSTRIDE + i];
        at[k][i] = CHOOSE(inside, on, w[k * WSTRIDE + i]);
      }
    }
    w = at[0];
  }
#endif
  step(t + a * h, (b - a) * h, x, e, w, w + WSTRIDE, w + 2 * WSTRIDE, c, work, g0, g1, kept);
}

/* first part of a step at which a guard changes its sign, on a straight line; 2 where none does */
static real crossing(const real *g0, const real *g1, const flag *passed) {
  real first = EACH(2.0);
  for (int i = 0; i < NG; ++i) {
    flag changes = (g0[i] * g1[i] < 0.0) & ~passed[i];
    if (!ANY(changes)) continue;
    real at = g0[i] / (g0[i] - g1[i]);
    first = CHOOSE(changes & (at < first), at, first);
  }
  return first;
}

/* A step that ends on kinks on its way: each is found by false position on steps tried from `done`, then the rest is taken.
 * `going`: lanes that are not at their end yet. */
static void advance(real t, real h, real *x, real *e, const real *w, const real *c, real *work, weighed *kept) {
  real done = EACH(0.0), z[NX + 1], q[NQ + 1], to_x[NX + 1], to_e[NQ + 1], ends[2][NG], g0[NG], g[NG], change[NG];
  flag passed[NG], going = ALL_LANES;
  for (int i = 0; i < NG; ++i) passed[i] = NO_LANE;
  for (int left = KINKS;; --left) {
    for (int i = 0; i < NX; ++i) z[i] = to_x[i] = x[i];
    for (int i = 0; i < NQ; ++i) q[i] = to_e[i] = e[i];
    part(t, h, done, EACH(1.0), to_x, to_e, w, c, work, ends[0], ends[1], kept);
    take(going, x, to_x, NX);
    take(going, e, to_e, NQ);
    if (!left) return;
    real to = EACH(1.0), low = EACH(0.0), high = EACH(1.0), at = crossing(ends[0], ends[1], passed);
    going &= at <= 1.0;
    if (!ANY(going)) return;
    for (int i = 0; i < NG; ++i) change[i] = LANED(fabs)(ends[0][i] - ends[1][i]);
    for (int look = 0; look < LOOKS; ++look) {
      for (int i = 0; i < NX; ++i) to_x[i] = z[i];
      for (int i = 0; i < NQ; ++i) to_e[i] = q[i];
      to = CHOOSE(going, done + at * (1.0 - done), done);
      part(t, h, done, to, to_x, to_e, w, c, work, g0, g, kept);
      flag over = crossing(g0, g, passed) <= 1.0;
      high = CHOOSE(over, at, high);
      low = CHOOSE(over, low, at);
      for (int i = 0; i < NG; ++i) ends[1][i] = CHOOSE(over, g[i], ends[1][i]);
      for (int i = 0; i < NG; ++i) ends[0][i] = CHOOSE(over, ends[0][i], g[i]);
      at = crossing(ends[0], ends[1], passed);
      at = low + (high - low) * CHOOSE(at > 1.0, EACH(0.0), at);
    }
    take(going, x, to_x, NX);
    take(going, e, to_e, NQ);
    for (int i = 0; i < NG; ++i) passed[i] |= LANED(fabs)(g[i]) <= PASSED * change[i];
    done = CHOOSE(going, to, done);
  }
}
#endif

static void log_row(real t, const real *x, const real *e, const real *w, const real *c, real *row, real *work) {
  for (int i = 0; i < NX; ++i) row[i] = x[i];
  for (int i = 0; i < NQ; ++i) row[NX + i] = e[i];
#if NM
  CALL(logged, &t, x, w, row + NX + NQ);
#endif
}

/* state: x then e (power integrals), in and out. rows: ROW numbers per logged instant, which is the beginning of every `every`-th
 * sample, with 0 that of every step: states, integrals, and NM monitors; with NM 0 these are left to the caller. `samples`, one
 * number a lane: how many to do, in; how many were done, out, fewer where a state stopped being finite. A lane that is at its end
 * keeps its state. jumping: 0 skips `jump` (no samples in the loop). F: STAGES rows a step: at its beginning, middle and end. */
void run_lanes(long first, long *samples, long every, int jumping, double T, long n1, double h1, long n2, double h2, real *state,
               const real *W, const real *F, const real *c, real *rows, real *work) {
  real x[NX + 1], e[NQ + 1], y[NX + 1], wanted = LANE_NUMBERS(samples), made = EACH(0.0);
  weighed kept[2] = {NOTHING_YET, NOTHING_YET}; /* of either segment: their steps differ in length */
  for (int i = 0; i < NX; ++i) x[i] = state[i];
  for (int i = 0; i < NQ; ++i) e[i] = state[NX + i];
  for (long k = first;; ++k) {
    double begin = k * T;
    real t = EACH(begin);
    flag alive = made < wanted;
    alive &= made == (double)(k - first);
    if (!ANY(alive)) break;
    const real *w = W + (k - first) * NW, *f = F ? F + (k - first) * (n1 + n2) * STAGES * NW : 0;
    if (jumping) {
      CALL(jump, &t, x, w, y);
      for (int i = 0; i < NX; ++i) x[i] = y[i];
      take(alive, state, x, NX);
    }
    alive &= finite_all(x, NX);
    if (!ANY(alive)) break;
    if (rows && every && k % every == 0) {
      log_row(t, x, e, w, c, rows, work);
      rows += ROW;
    }
    for (long s = 0; s < n1 + n2; ++s) {
      double from = s < n1 ? begin + s * h1 : begin + n1 * h1 + (s - n1) * h2;
      real h = EACH(s < n1 ? h1 : h2), at = EACH(from);
      if (n1 && s == n1) {
        CALL(release, &at, x, w, y);
        for (int i = 0; i < NX; ++i) x[i] = y[i];
      }
      const real *ws = f ? f + s * STAGES * NW : w;
      if (rows && !every) {
        log_row(at, x, e, s ? ws : w, c, rows, work);
        rows += ROW;
      }
      advance(at, h, x, e, ws, c, work, kept + (s >= n1));
#if PROJECTED
      real end = at + h;
      CALL(project, &end, x, w, y);
      for (int i = 0; i < NX; ++i) x[i] = y[i];
#endif
    }
    take(alive, state, x, NX);
    take(alive, state + NX, e, NQ);
    made = CHOOSE(alive, made + 1.0, made);
  }
  GIVE_LANES(samples, made);
}

#if LANES > 1
/* Rows of all lanes distributed to a table for each: of lane l the first counts[l] rows, of every row the `kept` numbers at `keep`,
 * `apart` numbers from one row of a table to the next. */
void distribute(const real *rows, const long *counts, long kept, const long *keep, double *const *tables, long apart) {
  long most = 0;
  for (int l = 0; l < LANES; ++l) most = counts[l] > most ? counts[l] : most;
  for (long k = 0; k < most; ++k, rows += ROW)
    for (long j = 0; j < kept; ++j) {
      real numbers = rows[keep[j]];
      for (int l = 0; l < LANES; ++l)
        if (k < counts[l]) tables[l][k * apart + j] = numbers[l];
    }
}
#endif

#if LANES == 1
/* the same for n samples; returns how many were done */
long run(long first, long n, long every, int jumping, double T, long n1, double h1, long n2, double h2, real *state,
         const real *W, const real *F, const real *c, real *rows, real *work) {
  run_lanes(first, &n, every, jumping, T, n1, h1, n2, h2, state, W, F, c, rows, work);
  return n;
}

/* measured outputs */
void measure(real t, const real *x, const real *w, const real *c, real *y, real *work) { CALL(measured, &t, x, w, y); }

/* memory made consistent with the first measurement */
void begin(real t, const real *x, const real *w, const real *c, real *y, real *work) { CALL(start, &t, x, w, y); }
#endif
