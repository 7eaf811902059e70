/* A mass on a spring, pushed by a command and a disturbance, with a stop it bounces off: the plant of the tests' own FMUs.
 *
 *   dq/dt = v,  dv/dt = (F + D - d v - k q)/m,  y = 1000 q (mm),  v+ = -e v where q reaches `stop`
 *
 * mood: 1 crashes, 2 hangs, 3 answers with an error, each after 50 ms; 4 takes no command any more after 1 s.
 * By co-simulation alone, which keeps a number w to itself: 5 y = 1000 (q + w), dw/dt = |v|/500, a sensor that slips;
 * 6 dv/dt + w, dw/dt = w/20 + 1e-6, a push that grows; 7 y = 1000 w, dw/dt = (q - w)/0.05, a sensor with a lag. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIME, Q, V, DQ, DV, F, D, M, DAMP, K, STOP, E, MOOD, Y, LAST };
enum { OK, WARNING, DISCARD, ERROR, FATAL };

typedef struct {
  double r[LAST], w;
} Bench;

static Bench *fresh(void) {
  Bench *b = calloc(1, sizeof *b);
  b->r[M] = 2.0;
  b->r[DAMP] = 3.0;
  b->r[K] = 50.0;
  b->r[STOP] = 1e9;
  b->r[E] = 0.5;
  return b;
}

static int moody(Bench *b) {
  int mood = b->r[TIME] > 0.05 ? (int)b->r[MOOD] : 0;
  if (mood == 1) *(volatile int *)0 = 1;
  while (mood == 2)
    ;
  return mood == 3 ? ERROR : OK;
}

static void refresh(Bench *b) {
  double *r = b->r;
  double F_now = (int)r[MOOD] == 4 && r[TIME] > 1.0 ? 0.0 : r[F];
  r[DQ] = r[V];
  r[DV] = (F_now + r[D] - r[DAMP] * r[V] - r[K] * r[Q]) / r[M] + (r[MOOD] == 6 ? b->w : 0.0);
  r[Y] = 1000.0 * (r[MOOD] == 5 ? r[Q] + b->w : r[MOOD] == 7 ? b->w : r[Q]);
}

static double hidden_rate(Bench *b) {
  double *r = b->r;
  if (r[MOOD] == 5) return fabs(r[V]) / 500.0;
  if (r[MOOD] == 6) return b->w / 20.0 + 1e-6;
  return r[MOOD] == 7 ? (r[Q] - b->w) / 0.05 : 0.0;
}

static int bounce(Bench *b) {
  if (b->r[Q] < b->r[STOP] || b->r[V] <= 0.0) return 0;
  b->r[Q] = b->r[STOP];
  b->r[V] = -b->r[E] * b->r[V];
  return 1;
}

/* Co-simulation: the midpoint rule in steps of about 0.1 ms. */
static void march(Bench *b, double t, double h) {
  int n = (int)ceil(h / 1e-4 - 1e-9);
  double s = h / n;
  for (int i = 0; i < n; i++) {
    double q = b->r[Q], v = b->r[V];
    refresh(b);
    b->r[Q] = q + s / 2 * b->r[DQ];
    b->r[V] = v + s / 2 * b->r[DV];
    refresh(b);
    b->r[Q] = q + s * b->r[DQ];
    b->r[V] = v + s * b->r[DV];
    b->w += s * hidden_rate(b);
    bounce(b);
  }
  b->r[TIME] = t + h;
}

/* d(DQ, DV, Y)/d(Q, V, F, D). */
static double slope(Bench *b, unsigned of, unsigned by) {
  double *r = b->r;
  if (of == DQ) return by == V;
  if (of == Y) return by == Q ? 1000.0 : 0.0;
  if (of == Q || of == V) return of == by;
  if (by == Q) return -r[K] / r[M];
  if (by == V) return -r[DAMP] / r[M];
  return by == F || by == D ? 1.0 / r[M] : 0.0;
}
