/* sin, cos and tanh of a `real` (lanes.h), by sums and products alone: a lane gives the number of a run alone, to the last bit.
 *
 * sin, cos   x − n π/2 in two numbers by a π/2 of three (33 + 33 + 53 bits), then the polynomials of fdlibm on ±π/4
 * tanh       below 0.625 x + x³ P(x²)/Q(x²) (Cephes); above it 1 − 2/(e^2x + 1), e^2x as in fdlibm, with what its sums round off
 *
 * Each is within one unit in the last place. Beyond FAR, and for what is no number, the C library answers, lane by lane.
 * Source: fdlibm (k_sin.c, k_cos.c, e_rem_pio2.c, e_exp.c), Copyright (C) 1993 by Sun Microsystems, Inc., which may be used, copied,
 * modified and distributed freely where this notice is preserved; Cephes (tanh.c), S. L. Moshier.
 */
#include <string.h>

#define FAR 1000.0 /* rad: up to here the reduced argument is good to 2^-58 of itself */
#define ROUNDING 0x1.8p52 /* added and taken away, it leaves the nearest integer, which stands in the last bits of the sum */
#define SATURATED 22.0 /* tanh is 1 from here on */
#define SMALL 0.625

#if LANES == 1
typedef long long bits;
static inline bits bits_of(real x) { bits b; memcpy(&b, &x, sizeof b); return b; }
static inline real of_bits(bits b) { real x; memcpy(&x, &b, sizeof x); return x; }
#define AS_EXPONENT(b) ((bits)((unsigned long long)(b) << 52)) /* of a number's last bits; the others are shifted out */
#define LIBRARY(f, x) f(x)
/* as those of lanes.h, without a call */
static inline real own_fmin(real x, real y) { return (x < y) | (y != y) ? x : y; }
static inline real own_fmax(real x, real y) { return (x > y) | (y != y) ? x : y; }
#define fmin own_fmin
#define fmax own_fmax
#else
typedef flag bits;
#define bits_of(x) ((bits)(x))
#define of_bits(b) ((real)(b))
#define AS_EXPONENT(b) ((b) << 52)
#define LIBRARY(f, x) library_##f(x)
static inline real library_sin(real x) { for (int l = 0; l < LANES; ++l) x[l] = sin(x[l]); return x; }
static inline real library_cos(real x) { for (int l = 0; l < LANES; ++l) x[l] = cos(x[l]); return x; }
#endif

/* x = n π/2 + y + z; the last bits of the result are those of n */
static inline bits reduced(real x, real *y, real *z) {
  real turned = x * 6.36619772367581382433e-01 + ROUNDING, n = turned - ROUNDING;
  real t = x - n * 1.57079632673412561417e+00, w = n * 6.07710050630396597660e-11, r = t - w;
  w = n * 2.02226624879595063154e-21 - ((t - r) - w);
  *y = r - w;
  *z = (r - *y) - w;
  return bits_of(turned);
}

/* sin(y + z) and cos(y + z), |y| ≤ π/4 */
static inline real near_sin(real y, real z) {
  real s = y * y, v = s * y;
  real r = 8.33333333332248946124e-03 + s * (-1.98412698298579493134e-04 + s * (2.75573137070700676789e-06
         + s * (-2.50507602534068634195e-08 + s * 1.58969099521155010221e-10)));
  return y - ((s * (0.5 * z - v * r) - z) - v * -1.66666666666666324348e-01);
}

static inline real near_cos(real y, real z) {
  real s = y * y, w = s * s, half = 0.5 * s, rest = 1.0 - half;
  real r = s * (4.16666666666666019037e-02 + s * (-1.38888888888741095749e-03 + s * 2.48015872894767294178e-05))
         + w * w * (-2.75573143513906633035e-07 + s * (2.08757232129817482790e-09 + s * -1.13596475577881948265e-11));
  return rest + (((1.0 - rest) - half) + (s * r - y * z));
}

static inline real own_sin(real x) {
  real y, z;
  bits n = reduced(x, &y, &z);
  flag swapped = (n & 1) != 0, turned = (n & 2) != 0, near = LANED(fabs)(x) <= FAR;
  real s = CHOOSE(swapped, near_cos(y, z), near_sin(y, z));
  s = CHOOSE(turned, -s, s);
  return ANY(~near & ALL_LANES) ? CHOOSE(near, s, LIBRARY(sin, x)) : s;
}

static inline real own_cos(real x) {
  real y, z;
  bits n = reduced(x, &y, &z);
  flag swapped = (n & 1) != 0, turned = ((n + 1) & 2) != 0, near = LANED(fabs)(x) <= FAR;
  real c = CHOOSE(swapped, near_sin(y, z), near_cos(y, z));
  c = CHOOSE(turned, -c, c);
  return ANY(~near & ALL_LANES) ? CHOOSE(near, c, LIBRARY(cos, x)) : c;
}

/* e^x, 1 < x < 45, and what rounds off it */
static inline real near_exp(real x, real *lost) {
  real shifted = x * 1.44269504088896338700e+00 + ROUNDING, k = shifted - ROUNDING;
  real high = x - k * 6.93147180369123816490e-01, low = k * 1.90821492927058770002e-10, r = high - low, t = r * r;
  real c = r - t * (1.66666666666666019037e-01 + t * (-2.77777777770155933842e-03 + t * (6.61375632143793436117e-05
         + t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
  real q = (low - (r * c) / (2.0 - c)) - high, y = 1.0 - q;
  real scale = of_bits(AS_EXPONENT(bits_of(shifted)) + bits_of(EACH(1.0)));
  *lost = ((1.0 - y) - q) * scale;
  return y * scale;
}

static inline real own_tanh(real x) {
  real a = LANED(fabs)(x), y = EACH(1.0);
  flag small = a < SMALL, large = ~(small | (a >= SATURATED)) & ALL_LANES;
  if (ANY(large)) {
    real lost, e = near_exp(a + a, &lost), d = e + 1.0, c = 2.0 / d;
    real sum = 1.0 - c, rest = ((1.0 - sum) - c) + 0.5 * c * c * (lost + (1.0 - (d - e)));
    y = CHOOSE(large, sum + rest, y);
  }
  if (ANY(small)) {
    real s = a * a;
    real p = (-9.64399179425052238628e-01 * s + -9.92877231001918586564e+01) * s + -1.61468768441708447952e+03;
    real q = ((s + 1.12811678491632931402e+02) * s + 2.23548839060100448583e+03) * s + 4.84406305325125486048e+03;
    y = CHOOSE(small, a + a * (s * (p / q)), y);
  }
  return of_bits(bits_of(y) | (bits_of(x) & bits_of(EACH(-0.0))));
}

#define sin own_sin
#define cos own_cos
#define tanh own_tanh
#define laned_sin own_sin
#define laned_cos own_cos
#define laned_tanh own_tanh
