/* Fixed-step loop around the generated functions: sample, hold, integrate, log. Everything else is in the expressions.
 *
 * At t_k = k T: log row k of the state after the jump; then RK4 in two segments, n1 steps of h1 up to the second jump
 * (`release`, when n1 > 0), n2 steps of h2 up to t_{k+1}. Inputs: W, one row a sample; F, rows at every stage time of the
 * sample's flow (2 (n1 + n2) + 1 rows), or NULL when the flow takes the sample's row.
 */
typedef double real;
#define CALL(f, t_, x_, w_, y_) do { const real *arg[4] = {(t_), (x_), (w_), c}; real *res[1] = {(y_)}; f(arg, res, 0, work, 0); } while (0)

static int finite_all(const real *x, int n) {
  for (int i = 0; i < n; ++i) if (!(x[i] - x[i] == 0.0)) return 0;
  return 1;
}

/* one RK4 step of [x, e]: e collects the power integrals */
static void rk4(real t, real h, real *x, real *e, const real *w0, const real *wm, const real *w1, const real *c, real *work) {
  real k1[NX + NQ + 1], k2[NX + NQ + 1], k3[NX + NQ + 1], k4[NX + NQ + 1], y[NX + 1], tm = t + 0.5 * h, te = t + h;
  CALL(flow, &t, x, w0, k1);
  for (int i = 0; i < NX; ++i) y[i] = x[i] + 0.5 * h * k1[i];
  CALL(flow, &tm, y, wm, k2);
  for (int i = 0; i < NX; ++i) y[i] = x[i] + 0.5 * h * k2[i];
  CALL(flow, &tm, y, wm, k3);
  for (int i = 0; i < NX; ++i) y[i] = x[i] + h * k3[i];
  CALL(flow, &te, y, w1, k4);
  for (int i = 0; i < NX; ++i) x[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
  for (int i = 0; i < NQ; ++i) e[i] += h / 6.0 * (k1[NX + i] + 2.0 * k2[NX + i] + 2.0 * k3[NX + i] + k4[NX + i]);
}

/* state: x then e (power integrals), in and out. rows: NX + NQ + NM numbers per logged sample. Returns the number of samples
 * done; fewer than n when a state stopped being finite. jumping: 0 skips `jump` (no samples in the loop). */
long run(long first, long n, long every, int jumping, real T, long n1, real h1, long n2, real h2, real *state,
         const real *W, const real *F, const real *c, real *rows, real *work) {
  real *x = state, *e = state + NX, y[NX + 1];
  long stages = 2 * (n1 + n2) + 1;
  for (long k = first; k < first + n; ++k) {
    real t = k * T;
    const real *w = W + (k - first) * NW, *f = F ? F + (k - first) * stages * NW : 0;
    if (jumping) {
      CALL(jump, &t, x, w, y);
      for (int i = 0; i < NX; ++i) x[i] = y[i];
    }
    if (!finite_all(x, NX)) return k - first;
    if (rows && k % every == 0) {
      for (int i = 0; i < NX + NQ; ++i) rows[i] = state[i];
      CALL(logged, &t, x, w, rows + NX + NQ);
      rows += NX + NQ + NM;
    }
    for (long s = 0; s < n1 + n2; ++s) {
      real h = s < n1 ? h1 : h2, at = s < n1 ? t + s * h1 : t + n1 * h1 + (s - n1) * h2;
      if (n1 && s == n1) {
        CALL(release, &at, x, w, y);
        for (int i = 0; i < NX; ++i) x[i] = y[i];
      }
      const real *w0 = f ? f + 2 * s * NW : w;
      rk4(at, h, x, e, w0, f ? w0 + NW : w, f ? w0 + 2 * NW : w, c, work);
    }
  }
  return n;
}

/* measured outputs */
void measure(real t, const real *x, const real *w, const real *c, real *y, real *work) { CALL(measured, &t, x, w, y); }

/* memory made consistent with the first measurement */
void begin(real t, const real *x, const real *w, const real *c, real *y, real *work) { CALL(start, &t, x, w, y); }
