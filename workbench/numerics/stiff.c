/* Integration of stiff flows by adaptive or, with FIXED, equal steps around the generated functions; signature and bookkeeping of `run` as in driver.c.
 *
 * RODAS (table TABLE_…), six stages, order 4, L-stable and stiffly accurate, on z = [x, e] with e the power integrals. The
 * systems (1/(h γ) − J) k = r are solved by generated code: `lu` eliminates in an order found beforehand, without
 * exchanges, `solve` substitutes. Steps end on samples, on multiples of the period at which the flow has edges, and close
 * behind an edge of the watched state. c is followed by the settings: errors of a step (NI), period, edges (NE), error
 * of a step as a share of the state. Equal steps
 * have none, and take their inputs at the stages themselves.
 * With COUNTED the library counts its steps. lanes.h and functions.h stand before it. stiff_vm.py has the same text for the virtual machine.
 */
#define N (NI + NQ)
#define CALL(f, t_, x_, w_, y_) do { const real *arg[4] = {(t_), (x_), (w_), c}; real *res[1] = {(y_)}; f(arg, res, 0, work, 0); } while (0)

static const real A[6][5] = TABLE_A, C[6][5] = TABLE_C, AT[6] = TABLE_AT, D[6] = TABLE_D;

static int finite_all(const real *x, int n) {
  for (int i = 0; i < n; ++i) if (!(x[i] - x[i] == 0.0)) return 0;
  return 1;
}

#if PROJECTED
static void project_state(real t, real *x, const real *w, const real *c, real *work) {
  real y[NX + 1];
  CALL(project, &t, x, w, y);
  for (int i = 0; i < NX; ++i) x[i] = y[i];
}
#else
#define project_state(...) ((void)0)
#endif

/* inputs from t0 on: one row that holds, or the polynomial through NODES equidistant rows over the span */
typedef struct { const real *rows; real t0, span, poly[(WSTRIDE > 0 && !FIXED) * NODES * NW + 1]; } Inputs;

#if FIXED
static const int row_at[6] = TABLE_ROW; /* row of a stage's inputs */
static const real slope_at[NODES] = TABLE_SLOPE; /* weights of the rows in the rate at the beginning, times the step */

static const real *stage_inputs(const Inputs *in, int s, real t, real *w) {
  (void)t; (void)w;
  return in->rows + (WSTRIDE > 0 ? row_at[s] * NW : 0);
}

static void input_rate(const Inputs *in, real *dw) {
  for (int i = 0; i < NW; ++i) dw[i] = 0.0;
  for (int j = 0; j < NODES * (WSTRIDE > 0); ++j)
    for (int i = 0; i < NW; ++i) dw[i] += slope_at[j] * (in->rows[j * NW + i] - in->rows[i]) / in->span;
}
#else
#if WSTRIDE > 0
static const real POLY[NODES][NODES] = TABLE_POLY; /* rows of an interval → coefficients in (t − t0)/span */
#endif

static void fit_inputs(Inputs *in) {
#if WSTRIDE > 0
  for (int k = 0; k < NODES; ++k)
    for (int i = 0; i < NW; ++i) {
      real sum = 0.0;
      for (int j = 0; j < NODES; ++j) sum += POLY[k][j] * (in->rows[j * NW + i] - in->rows[i]);
      in->poly[k * NW + i] = k ? sum : in->rows[i] + sum; /* an input that holds stays as it is */
    }
#else
  (void)in;
#endif
}

static const real *inputs_at(const Inputs *in, real t, real *w, real *dw) {
#if WSTRIDE > 0
  real s = (t - in->t0) / in->span;
  for (int i = 0; i < NW; ++i) {
    const real *c = in->poly + i;
    real value = c[(NODES - 1) * NW], slope = 0.0;
    for (int k = NODES - 2; k >= 0; --k) {
      slope = slope * s + value;
      value = value * s + c[k * NW];
    }
    w[i] = value;
    dw[i] = slope / in->span;
  }
  return w;
#else
  (void)t; (void)w;
  for (int i = 0; i < NW; ++i) dw[i] = 0.0;
  return in->rows;
#endif
}

static const real *stage_inputs(const Inputs *in, int s, real t, real *w) {
  real dw[NW + 1];
  (void)s;
  return inputs_at(in, t, w, dw);
}
#endif

/* one step of h from z at t to `to`; J and f_t are those of t. Returns the error against what is allowed. */
static real rodas(real t, real h, const real *z, real *to, const Inputs *in, const real *J, const real *ft, const real *c,
                  real *work) {
  real U[6][N], y[NX + 1], w[NW + 1], f[N + 1], r[N], L[NLU + 1], g = 1.0 / (h * GAMMA), per = 1.0 / h, worst = 0.0;
  { const real *arg[2] = {J, &g}; real *res[1] = {L}; lu(arg, res, 0, work, 0); }
  for (int i = NI; i < NX; ++i) y[i] = z[i];
  for (int s = 0; s < 6; ++s) {
    real at = t + AT[s] * h;
    for (int i = 0; i < NI; ++i) {
      y[i] = z[i];
      for (int q = 0; q < s; ++q) y[i] += A[s][q] * U[q][i];
    }
    CALL(flow, &at, y, stage_inputs(in, s, at, w), f);
    for (int i = 0; i < N; ++i) {
      real sum = 0.0;
      for (int q = 0; q < s; ++q) sum += C[s][q] * U[q][i];
      r[i] = f[i] + sum * per + D[s] * h * ft[i];
    }
    const real *arg[2] = {L, r}; real *res[1] = {U[s]};
    solve(arg, res, 0, work, 0);
  }
  for (int i = 0; i < NX + NQ; ++i) to[i] = z[i];
  for (int i = 0; i < NI; ++i) to[i] = y[i] + U[5][i];
  for (int i = 0; i < NQ; ++i) {
    to[NX + i] += U[5][NI + i];
    for (int q = 0; q < 5; ++q) to[NX + i] += A[5][q] * U[q][NI + i];
  }
  for (int i = 0; i < NI; ++i) {
    if (!(to[i] - to[i] == 0.0)) return HUGE_VAL;
#if !FIXED
    worst = fmax(worst, fabs(U[5][i]) / (c[NC + i] + c[NC + NI + 1 + NE] * fabs(to[i])));
#endif
  }
  return worst;
}

#if COUNTED
static long tried, accepted;
#define COUNT(what) (++what)
#else
#define COUNT(what) ((void)0) /* no memory of its own */
#endif

#if FIXED
/* z from t to t1 in one step; *h is not used. Returns 0 when the flow leaves the numbers. */
static int advance(real t, real t1, real *z, const Inputs *in, const real *c, real *work, real *h) {
  real J[NJ + 1], ft[N + 1], dw[NW + 1], to[NX + NQ + 1];
  (void)h;
  input_rate(in, dw);
  const real *arg[5] = {&t, z, in->rows, dw, c}; real *res[2] = {J, ft};
  slope(arg, res, 0, work, 0);
  COUNT(tried);
  if (rodas(t, t1 - t, z, to, in, J, ft, c, work) > 0.0) return 0;
  COUNT(accepted);
  for (int i = 0; i < NX + NQ; ++i) z[i] = to[i];
  project_state(t1, z, in->rows, c, work);
  return 1;
}
#else
/* part of the step after which the watched state is on the first edge it has crossed; 1 when none was */
static real crossed(real from, real to, const real *edges) {
  real first = 1.0;
  for (int i = 0; i < NE; ++i)
    if ((from - edges[i]) * (to - edges[i]) < 0.0) first = fmin(first, (edges[i] - from) / (to - from));
  return first;
}

/* z from t to t1; *h is the step to try, and then the one to go on with. Returns 0 when no step is small enough. */
static int advance(real t, real t1, real *z, const Inputs *in, const real *c, real *work, real *h) {
  const real period = c[NC + NI], *edges = c + NC + NI + 1;
  real J[NJ + 1], ft[N + 1], w[NW + 1], dw[NW + 1], to[NX + NQ + 1], last = 0.0, before = 1.0;
  int fresh = 0, looked = 0, failed = 0;
  while (t < t1) {
    real room = t1 - t, stop = t1, most = HUGE_VAL;
    int edge = 0;
    if (period > 0.0) {
      real next = (floor(t / period + 1e-7) + 1.0) * period;
      most = fmax(0.5 * (next - t), NEAR);
      if (next <= t1 + 1e-7 * period) { stop = fmin(next, t1); room = stop - t; edge = 1; } /* samples round */
    }
    if (!fresh) {
      const real *arg[5] = {&t, z, inputs_at(in, t, w, dw), dw, c}; real *res[2] = {J, ft};
      slope(arg, res, 0, work, 0);
      fresh = 1;
    }
    real step = fmin(*h, most);
    step = step < 0.5 * room ? step : step < room ? 0.5 * room : room;
    if (step < room && step < 1e-15 + 1e-14 * fabs(t)) return 0;
    real error = rodas(t, step, z, to, in, J, ft, c, work), grow = 0.9 * pow(fmax(error, 1e-12), -0.25);
    COUNT(tried);
    if (!(error <= 1.0)) {
      /* where a smaller step did not help, the error is a fast state's: go down to its time scale */
      *h = step * (failed ? 0.25 : fmax(0.2, fmin(grow, 0.9)));
      failed = 1;
      continue;
    }
    real part = NE > 0 ? crossed(z[WATCHED], to[WATCHED], edges) : 1.0;
    if (part < 0.98 && looked < 2) { *h = step * fmax(part * 1.01, 1e-3); ++looked; continue; }
    COUNT(accepted);
    if (last > 0.0) grow = fmin(grow, 0.9 * step / last * pow(before / fmax(error * error, 1e-12), 0.25));
    grow = fmax(0.2, fmin(grow, failed ? 1.0 : 6.0));
    last = step;
    before = fmax(error, 1e-2);
    t = step == room ? stop : t + step;
    for (int i = 0; i < NX + NQ; ++i) z[i] = to[i];
    project_state(t, z, in->rows, c, work);
    /* behind an edge small steps; a step cut short to land says little about the next */
    *h = part < 1.0 || (edge && step == room) ? FIRST : fmax(step * grow, step < *h ? *h : 0.0);
    fresh = looked = failed = 0;
  }
  return 1;
}
#endif

static void log_row(real t, const real *state, const real *w, const real *c, real *row, real *work) {
  for (int i = 0; i < NX + NQ; ++i) row[i] = state[i];
#if NM
  CALL(logged, &t, state, w, row + NX + NQ);
#endif
}

long run(long first, long n, long every, int jumping, real T, long n1, real h1, long n2, real h2, real *state,
         const real *W, const real *F, const real *c, real *rows, real *work) {
  real *x = state, y[NX + 1], h = FIRST;
  for (long k = first; k < first + n; ++k) {
    real t = k * T;
    const real *w = W + (k - first) * NW, *f = F ? F + (k - first) * (n1 + n2) * NODES * NW : 0;
    if (jumping) {
      CALL(jump, &t, x, w, y);
      for (int i = 0; i < NX; ++i) x[i] = y[i];
      h = FIRST;
    }
    if (!finite_all(x, NX)) return k - first;
    if (rows && every && k % every == 0) {
      log_row(t, state, w, c, rows, work);
      rows += NX + NQ + NM;
    }
    /* equal steps, inputs that vary and a log of every step are taken piece by piece, else up to the release and on from there */
    for (long s = 0, end; s < n1 + n2; s = end) {
      end = FIXED || WSTRIDE > 0 || !every ? s + 1 : s < n1 ? n1 : n1 + n2;
      real from = s < n1 ? t + s * h1 : t + n1 * h1 + (s - n1) * h2;
      real till = end <= n1 ? t + end * h1 : t + n1 * h1 + (end - n1) * h2;
      if (n1 && s == n1) {
        CALL(release, &from, x, w, y);
        for (int i = 0; i < NX; ++i) x[i] = y[i];
        h = FIRST;
      }
      if (rows && !every) {
        log_row(from, state, s && WSTRIDE > 0 ? f + s * NODES * NW : w, c, rows, work);
        rows += NX + NQ + NM;
      }
      Inputs in = {.rows = WSTRIDE > 0 ? f + s * NODES * NW : w, .t0 = from, .span = till - from};
#if !FIXED
      fit_inputs(&in);
#endif
      if (!advance(from, till, state, &in, c, work, &h)) {
        x[0] = NAN;
        /* of the steps this sample does not reach */
        for (long i = (n1 + n2 - s - 1) * (NX + NQ + NM); rows && !every && i > 0; --i) *rows++ = NAN;
        return k + 1 - first;
      }
    }
  }
  return n;
}

#if COUNTED
/* steps tried and accepted since the library was loaded */
void steps(long *out) { out[0] = tried; out[1] = accepted; }
#endif

void measure(real t, const real *x, const real *w, const real *c, real *y, real *work) { CALL(measured, &t, x, w, y); }
void begin(real t, const real *x, const real *w, const real *c, real *y, real *work) { CALL(start, &t, x, w, y); }
