/* What a `real` is: one number, or a vector of LANES numbers, one for each of as many runs.
 *
 * flag       the lanes for which something is true: what a comparison gives
 * EACH(s)    the number s in every lane            CHOOSE(m, a, b)   a in the lanes m, b in the others
 * ANY(m)     whether m is true in some lane        LANED(f)          the function f of every lane
 *
 * Sums, products, quotients and roots of a vector are those of its lanes, to the last bit; functions of the C library are called
 * lane by lane.
 */
#include <math.h>

#if LANES == 1
typedef double real;
typedef int flag;
#define ALL_LANES 1
#define NO_LANE 0
#define EACH(s) (s)
#define CHOOSE(m, a, b) ((m) ? (a) : (b))
#define ANY(m) (m)
#define LANED(f) f
#define LANE_NUMBERS(n) ((real)*(n))
#define GIVE_LANES(n, x) (*(n) = (long)(x))
#else
typedef double real __attribute__((vector_size(8 * LANES)));
typedef long long flag __attribute__((vector_size(8 * LANES)));
#define NO_LANE ((flag){0})
#define ALL_LANES (~NO_LANE)
#define EACH(s) ((double)(s) - (real){0})
#define CHOOSE(m, a, b) ((real)(((flag)(a) & (m)) | ((flag)(b) & ~(m))))
#define ANY(m) any_lane(m)
#define LANED(f) laned_##f
#define NUMBER(m) CHOOSE(m, EACH(1.0), EACH(0.0))
#define EACH_LANE(f) \
  static inline real laned_##f(real x) { for (int l = 0; l < LANES; ++l) x[l] = f(x[l]); return x; }
#define EACH_LANE_OF_TWO(f) \
  static inline real laned_##f(real x, real y) { for (int l = 0; l < LANES; ++l) x[l] = f(x[l], y[l]); return x; }

static inline int any_lane(flag m) {
  long long any = 0;
  for (int l = 0; l < LANES; ++l) any |= m[l];
  return any != 0;
}

/* by the instruction's name: the header that has a function for it takes longer to read than a small graph to compile */
static inline real laned_sqrt(real x) {
#if LANES == 8 && defined(__AVX512F__)
  __asm__("vsqrtpd %1, %0" : "=v"(x) : "v"(x));
  return x;
#elif LANES == 4 && defined(__AVX__)
  __asm__("vsqrtpd %1, %0" : "=x"(x) : "x"(x));
  return x;
#else
  for (int l = 0; l < LANES; ++l) x[l] = sqrt(x[l]);
  return x;
#endif
}

/* as those of the C library: of a number and none, the number */
static inline real laned_fabs(real x) { return (real)((flag)x & 0x7fffffffffffffffLL); }
static inline real laned_fmin(real x, real y) { return CHOOSE((x < y) | (y != y), x, y); }
static inline real laned_fmax(real x, real y) { return CHOOSE((x > y) | (y != y), x, y); }
static inline real laned_sign(real x) { return CHOOSE(x < 0.0, EACH(-1.0), CHOOSE(x > 0.0, EACH(1.0), x)); }

#define LANE_NUMBERS(n) lane_numbers(n)
#define GIVE_LANES(n, x) give_lanes(n, x)
static inline real lane_numbers(const long *n) {
  real x;
  for (int l = 0; l < LANES; ++l) x[l] = (double)n[l];
  return x;
}
static inline void give_lanes(long *n, real x) {
  for (int l = 0; l < LANES; ++l) n[l] = (long)x[l];
}
#endif
