/* Bellman's recursion on moving grids. `cost`, generated before this text, is the energy of one step; NC coefficients of the
   forces, of them NW per actuator. Nodes: q = base[k] + h i, i < n. Tables: X (N+1, 3, n) pistons, ok (N+1, n),
   C (N, NC, 2n-1) force coefficients at the midpoints (i + j) of a step, P (NP) numbers of the supply.
   BIG stands for "not allowed": values are only compared, so no infinity is needed. */
#ifdef __GNUC__
#pragma GCC optimize("O3", "no-trapping-math")
#endif
#define BIG 1e30

static void bounds(double from, const double *base, long k, double h, long n, double reach, long *low, long *high) {
  double a = (from - reach - base[k]) / h, b = (from + reach - base[k]) / h;
  *low = a < 0 ? 0 : (long)a + (a > (long)a);
  *high = b < 0 ? -1 : b > n - 1 ? n - 1 : (long)b;
}

/* Energies of the steps from node j of stage k to nodes low..high of k+1, at the rate u_before of the step before (for w). */
static void row(double *restrict e, const double *X, const double *C, const double *base, const double *P, const double *ok,
                long k, long j, long n, long low, long high, double h, double dt, double u_before) {
  const double *restrict x1 = X + 3 * n * (k + 1), *restrict x2 = x1 + n, *restrict x3 = x2 + n;
  const double *here = X + 3 * n * k, *restrict c = C + NC * (2 * n - 1) * k + j, *restrict allowed = ok + n * (k + 1);
  const double a1 = here[j], a2 = here[n + j], a3 = here[2 * n + j], from = base[k] + h * j, to = base[k + 1];
  (void)c;
  for (long l = low; l <= high; ++l) {
    double u = (to + h * l - from) / dt, w = (u - u_before) / dt;
    double v = COST;
    e[l] = allowed[l] > 0.5 ? v : BIG;
  }
}

/* One state: J (N+1, n) with J[N] given, best (N, n). reach: largest move of the redundant joint in a step. */
long one(long N, long n, double h, double dt, double reach, const double *base, const double *X, const double *ok,
         const double *C, const double *P, double *J, int *best, double *e) {
  for (long k = N - 1; k >= 0; --k) {
    const double *next = J + n * (k + 1);
    for (long i = 0; i < n; ++i) {
      double least = BIG;
      long low, high, at = -1;
      if (ok[n * k + i] > 0.5) {
        bounds(base[k] + h * i, base, k + 1, h, n, reach, &low, &high);
        row(e, X, C, base, P, ok, k, i, n, low, high, h, dt, 0.0);
        for (long j = low; j <= high; ++j) e[j] += next[j];
        for (long j = low; j <= high; ++j)
          if (e[j] < least) { least = e[j]; at = j; }
      }
      J[n * k + i] = least;
      best[n * k + i] = (int)at;
    }
  }
  return N;
}

/* Two states, where the crane is and where it was: V (N, n, M) is the cost of all steps after k -> k+1, which went from node i to
   i + m - M/2. A piston's steps may differ by push[.] (a_max dt^2, m) from one to the next; the last ends at rest.
   last: cost of ending at a node. best (N, n, M): node at k+2. */
long two(long N, long n, long M, double h, double dt, double reach, const double *push, const double *base, const double *X,
         const double *ok, const double *C, const double *P, const double *last, double *V, int *best, double *e, double *f) {
  for (long k = N - 1; k >= 0; --k) {
    for (long q = 0; q < n * M; ++q) { V[n * M * k + q] = BIG; best[n * M * k + q] = -1; }
    for (long j = 0; j < n; ++j) {
      if (ok[n * (k + 1) + j] < 0.5) continue;
      const double to = base[k + 1] + h * j;
      long low = 0, high = -1;
      if (k < N - 1) {
        bounds(to, base, k + 2, h, n, reach, &low, &high);
        long first = j - M / 2, final = first + M - 1;
        low = low < first ? first : low;
        high = high > final ? final : high;
        if (!WITH_W) row(f, X, C, base, P, ok, k + 1, j, n, low, high, h, dt, 0.0);
      }
      for (long m = 0; m < M; ++m) {
        long i = j - m + M / 2;
        double from = base[k] + h * i, u = (to - from) / dt;
        if (i < 0 || i >= n || ok[n * k + i] < 0.5 || u * dt > reach || u * dt < -reach) continue;
        const double *x0 = X + 3 * n * k + i, *x1 = X + 3 * n * (k + 1) + j;
        double least = BIG;
        long at = -1;
        if (k == N - 1) {
          int rest = 1;
          for (int c = 0; c < 3; ++c) { double d = x1[c * n] - x0[c * n]; rest &= d <= push[c] && d >= -push[c]; }
          if (rest) { least = last[j]; at = j; }
        } else {
          const double *restrict y = X + 3 * n * (k + 2), *after = V + n * M * (k + 1) + M * j - j + M / 2;
          const double p1 = 2 * x1[0] - x0[0], p2 = 2 * x1[n] - x0[n], p3 = 2 * x1[2 * n] - x0[2 * n];
          if (WITH_W) row(f, X, C, base, P, ok, k + 1, j, n, low, high, h, dt, u);
          for (long l = low; l <= high; ++l) {
            double d1 = y[l] - p1, d2 = y[n + l] - p2, d3 = y[2 * n + l] - p3;
            int may = (d1 <= push[0]) & (d1 >= -push[0]) & (d2 <= push[1]) & (d2 >= -push[1]) & (d3 <= push[2]) & (d3 >= -push[2]);
            e[l] = may ? f[l] + after[l] : BIG;
          }
          for (long l = low; l <= high; ++l)
            if (e[l] < least) { least = e[l]; at = l; }
        }
        V[n * M * k + M * i + m] = least;
        best[n * M * k + M * i + m] = (int)at;
      }
    }
  }
  return N;
}
