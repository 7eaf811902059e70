/* Steps of the augmented Lagrangian, see penalty.py. The functions residual, metric and bias are generated.
 *
 * A row is [z, dz, ddz, y, dy, lambda]; returns how many rows are good, the first included. */
#include <math.h>
#include <string.h>
typedef double real;
#define N (NV + NY)
#define ROW (NZ + 2 * NV + 2 * NY + NC)
#define NW (ROW + NU + 2)
#define CALL(f, x_, c_, y_) do { const real *arg[4] = {&zero, (x_), w, (c_)}; real *res[1] = {(y_)}; f(arg, res, 0, work, 0); } while (0)
static const real zero = 0.0;

/* b <- A^-1 b for A by columns (destroyed), rows scaled, partial pivoting; 0 when singular */
static int gauss(int n, real *A, real *b) {
  for (int i = 0; i < n; ++i) {
    real size = 0.0;
    for (int j = 0; j < n; ++j) size = fmax(size, fabs(A[i + n * j]));
    if (!(size > 0.0)) return 0;
    for (int j = 0; j < n; ++j) A[i + n * j] /= size;
    b[i] /= size;
  }
  for (int k = 0; k < n; ++k) {
    int p = k;
    for (int i = k + 1; i < n; ++i) if (fabs(A[i + n * k]) > fabs(A[p + n * k])) p = i;
    if (!(fabs(A[p + n * k]) > 0.0)) return 0;
    if (p != k) {
      for (int j = k; j < n; ++j) { real v = A[k + n * j]; A[k + n * j] = A[p + n * j]; A[p + n * j] = v; }
      real v = b[k]; b[k] = b[p]; b[p] = v;
    }
    for (int i = k + 1; i < n; ++i) {
      real factor = A[i + n * k] / A[k + n * k];
      for (int j = k + 1; j < n; ++j) A[i + n * j] -= factor * A[k + n * j];
      b[i] -= factor * b[k];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) b[i] -= A[i + n * j] * b[j];
    b[i] /= A[i + n * i];
  }
  return 1;
}

/* b <- A^-1 (W v - r) */
static int onto(const real *A, const real *W, const real *v, const real *r, real *b) {
  real copy[NV * NV];
  memcpy(copy, A, sizeof copy);
  for (int i = 0; i < NV; ++i) {
    b[i] = r ? -r[i] : 0.0;
    for (int j = 0; j < NV; ++j) b[i] += W[i + NV * j] * v[j];
  }
  return gauss(NV, copy, b);
}

long penalise(long n, long most, real h, real alpha, real *rows, long *counts, const real *U, const real *c1, const real *c2,
              const real *c3, const real *tol, real *work) {
  real x[N + 1], w[NW], out[N + N * N + NC + NZ + 2 * NV + NY + 1], J[N * N + 1], f[N + 1], at[NZ + NV + NY + 1], AW[2 * NV * NV],
      rest[NV], *lambda = w + ROW - NC, *phi = out + N + N * N, *fresh = phi + NC;
  for (long k = 1; k <= n; ++k) {
    const real *old = rows + (k - 1) * ROW, *dz = old + NZ, *ddz = dz + NV, *y = ddz + NV, *dy = y + NY;
    real *now = rows + k * ROW;
    memcpy(w, old, ROW * sizeof(real));
    memcpy(w + ROW, U + k * NU, NU * sizeof(real));
    w[ROW + NU] = h; w[ROW + NU + 1] = alpha;
    for (int i = 0; i < NV; ++i) x[i] = h * dz[i] + 0.5 * h * h * ddz[i];
    for (int i = 0; i < NY; ++i) x[NV + i] = y[i] + h * dy[i];
    CALL(residual, x, c1, out);
    long count = 0;
    for (int settled = 0; !settled;) {
      if (++count > most) return k;
      for (int i = 0; i < N; ++i) f[i] = -out[i];
      memcpy(J, out + N, N * N * sizeof(real));
      if (!gauss(N, J, f)) return k;
      settled = 1;
      for (int i = 0; i < N; ++i) { x[i] += f[i]; if (!(fabs(f[i]) < tol[i])) settled = 0; }
      CALL(residual, x, c1, out);
      /* the residual holds the constraints by alpha phi + lambda, and lambda grows by alpha phi: one evaluation serves both */
      for (int i = 0; i < NC; ++i) lambda[i] += alpha * phi[i];
      if (!settled) CALL(residual, x, c1, out);
    }
    memcpy(at, fresh, (NZ + NV) * sizeof(real));
    memcpy(at + NZ + NV, x + NV, NY * sizeof(real));
    CALL(metric, at, c2, AW);
    memcpy(now, fresh, (NZ + 2 * NV) * sizeof(real));
    memcpy(now + NZ + 2 * NV, x + NV, NY * sizeof(real));
    memcpy(now + NZ + 2 * NV + NY, fresh + NZ + 2 * NV, NY * sizeof(real));
    memcpy(now + ROW - NC, lambda, NC * sizeof(real));
    if (!onto(AW, AW + NV * NV, fresh + NZ, 0, now + NZ)) return k;
    memcpy(at + NZ, now + NZ, NV * sizeof(real));
    CALL(bias, at, c3, rest);
    if (!onto(AW, AW + NV * NV, fresh + NZ + NV, rest, now + NZ + NV)) return k;
    for (int i = 0; i < ROW; ++i) if (!(now[i] - now[i] == 0.0)) return k;
    counts[k] = count;
  }
  return n + 1;
}
