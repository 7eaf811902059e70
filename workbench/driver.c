/* Fixed-step loop around the generated functions: sample, hold, integrate, log. Everything else is in the expressions.
 *
 * At t_k = k T: log row k of the state after the jump; then RK4 in two segments, n1 steps of h1 up to the second jump
 * (`release`, when n1 > 0), n2 steps of h2 up to t_{k+1} (or the W-method, when NS > 0). Inputs: W, one row a sample; F, rows at every stage time of the
 * sample's flow, or NULL when the flow takes the sample's row.
 */
#include <math.h>
typedef double real;
/* WSTRIDE: NW when the flow's inputs are given at stage times, 0 when it takes the sample's row */
#define CALL(f, t_, x_, w_, y_) do { const real *arg[4] = {(t_), (x_), (w_), c}; real *res[1] = {(y_)}; f(arg, res, 0, work, 0); } while (0)

static int finite_all(const real *x, int n) {
  for (int i = 0; i < n; ++i) if (!(x[i] - x[i] == 0.0)) return 0;
  return 1;
}

/* one RK4 step of [x, e]: e collects the power integrals; only the first NI states move between jumps */
static void rk4(real t, real h, real *x, real *e, const real *w0, const real *wm, const real *w1, const real *c, real *work) {
  real k1[NI + NQ + 1], k2[NI + NQ + 1], k3[NI + NQ + 1], k4[NI + NQ + 1], y[NX + 1], tm = t + 0.5 * h, te = t + h;
  for (int i = NI; i < NX; ++i) y[i] = x[i];
  CALL(flow, &t, x, w0, k1);
  for (int i = 0; i < NI; ++i) y[i] = x[i] + 0.5 * h * k1[i];
  CALL(flow, &tm, y, wm, k2);
  for (int i = 0; i < NI; ++i) y[i] = x[i] + 0.5 * h * k2[i];
  CALL(flow, &tm, y, wm, k3);
  for (int i = 0; i < NI; ++i) y[i] = x[i] + h * k3[i];
  CALL(flow, &te, y, w1, k4);
  for (int i = 0; i < NI; ++i) x[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
  for (int i = 0; i < NQ; ++i) e[i] += h / 6.0 * (k1[NI + i] + 2.0 * k2[NI + i] + 2.0 * k3[NI + i] + k4[NI + i]);
}

/* One step of the four-stage, third-order, L-stable W-method ROS34PW2 (Rang, Angermann 2005): the linear solves see only the
 * NS×NS block of the Jacobian that belongs to the stiff states; order 3 does not depend on what the block leaves out. */
#if NS > 0
static const int stiff_at[NS] = STIFF_AT;
static const real G = 0.43586652150845900;
static const real AL[4][4] = {{0}, {0.87173304301691801}, {0.84457060015369423, -0.11299064236484185}, {0, 0, 1.0}};
static const real GA[4][4] = {{0}, {-0.87173304301691801}, {-0.90338057013044082, 0.054180672388095326},
                              {0.24212380706095346, -1.2232505839045147, 0.54526025533510214}};
static const real B[4] = {0.24212380706095346, -1.2232505839045147, 1.5452602553351020, 0.43586652150845900};

static void rosw(real t, real h, real *x, real *e, const real *w, const real *c, real *work) {
  real J[NS * NS], LU[NS][NS], k[4][NI + NQ + 1], y[NX + 1];
  int p[NS];
  CALL(stiff, &t, x, w, J);
  for (int i = 0; i < NS; ++i) {
    p[i] = i;
    for (int j = 0; j < NS; ++j) LU[i][j] = (i == j) - h * G * J[i + NS * j];
  }
  for (int j = 0; j < NS; ++j) { /* LU with row exchanges */
    int best = j;
    for (int i = j + 1; i < NS; ++i) if (fabs(LU[i][j]) > fabs(LU[best][j])) best = i;
    if (best != j) {
      int q = p[j]; p[j] = p[best]; p[best] = q;
      for (int l = 0; l < NS; ++l) { real v = LU[j][l]; LU[j][l] = LU[best][l]; LU[best][l] = v; }
    }
    for (int i = j + 1; i < NS; ++i) {
      LU[i][j] /= LU[j][j];
      for (int l = j + 1; l < NS; ++l) LU[i][l] -= LU[i][j] * LU[j][l];
    }
  }
  for (int i = NI; i < NX; ++i) y[i] = x[i];
  for (int s = 0; s < 4; ++s) {
    real g[NS], r[NS], ts = t + h * (AL[s][0] + AL[s][1] + AL[s][2]);
    for (int i = 0; i < NI; ++i) {
      y[i] = x[i];
      for (int q = 0; q < s; ++q) y[i] += h * AL[s][q] * k[q][i];
    }
    CALL(flow, &ts, y, w + s * WSTRIDE, k[s]);
    for (int i = 0; i < NS; ++i) {
      g[i] = 0.0;
      for (int q = 0; q < s; ++q) g[i] += GA[s][q] * k[q][stiff_at[i]];
    }
    for (int i = 0; i < NS; ++i) {
      r[i] = k[s][stiff_at[i]];
      for (int j = 0; j < NS; ++j) r[i] += h * J[i + NS * j] * g[j];
    }
    for (int i = 0; i < NS; ++i) {
      g[i] = r[p[i]];
      for (int j = 0; j < i; ++j) g[i] -= LU[i][j] * g[j];
    }
    for (int i = NS - 1; i >= 0; --i) {
      for (int j = i + 1; j < NS; ++j) g[i] -= LU[i][j] * g[j];
      g[i] /= LU[i][i];
      k[s][stiff_at[i]] = g[i];
    }
  }
  for (int s = 0; s < 4; ++s) {
    for (int i = 0; i < NI; ++i) x[i] += h * B[s] * k[s][i];
    for (int i = 0; i < NQ; ++i) e[i] += h * B[s] * k[s][NI + i];
  }
}
#endif

/* state: x then e (power integrals), in and out. rows: NX + NQ + NM numbers per logged sample. Returns the number of samples
 * done; fewer than n when a state stopped being finite. jumping: 0 skips `jump` (no samples in the loop). F: STAGES rows a
 * step, at the method's stage times. */
long run(long first, long n, long every, int jumping, real T, long n1, real h1, long n2, real h2, real *state,
         const real *W, const real *F, const real *c, real *rows, real *work) {
  real *x = state, *e = state + NX, y[NX + 1];
  for (long k = first; k < first + n; ++k) {
    real t = k * T;
    const real *w = W + (k - first) * NW, *f = F ? F + (k - first) * (n1 + n2) * STAGES * NW : 0;
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
      const real *ws = f ? f + s * STAGES * NW : w;
#if NS > 0
      rosw(at, h, x, e, ws, c, work);
#else
      rk4(at, h, x, e, ws, ws + WSTRIDE, ws + 2 * WSTRIDE, c, work);
#endif
    }
  }
  return n;
}

/* measured outputs */
void measure(real t, const real *x, const real *w, const real *c, real *y, real *work) { CALL(measured, &t, x, w, y); }

/* memory made consistent with the first measurement */
void begin(real t, const real *x, const real *w, const real *c, real *y, real *work) { CALL(start, &t, x, w, y); }
