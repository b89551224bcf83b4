/*
 * Every function of <math.h>, for float, double and long double, returns what the host's C library
 * does: exactly where the C standard requires the one correct result, else within the tolerance
 * that native/math-functions.h states for it.
 *
 * native: -lm
 * prints: mathematics: 88250 results, 0 wrong
 * limit: 120
 */
#define _GNU_SOURCE 1
#include <fenv.h>
#include <float.h>
#include <math.h>

#include "native/image.h"

typedef long double (*call)(const void *);

struct function {
	const char *name;
	int arity;
	int tolerance;		/* how many numbers beside the right one; 0: that one */
	long double least;	/* an error that is small enough */
	call of;
};

/* The function itself, not what the compiler makes of its name. */
#define FUNCTION(name) ({ __typeof__(&name) function = name; __asm__("" : "+r"(function)); function; })

enum kind { FLOAT, DOUBLE, LONG };
enum { RANDOM = 150, FAR = 1 << 30 };

/*
 * Derived from any number: one from -3 to 6; one that moves numbers from one end of their range to
 * the other; whether it fits a long.
 */
static int small(long double value)
{
	return (int)(image(value).mantissa >> 61) + (image(value).exponent & 1) * 2 - 3;
}

static int exponent(long double value)
{
	struct image is = image(value);

	return (int)(is.mantissa >> 50) % (is.exponent & 8 ? 40000 : 300) * (is.exponent >> 15 & 1 ? -1 : 1);
}

static int fits(long double value)
{
	return value > -4e18L && value < 4e18L;
}

static int class(int is)
{
	return is == FP_NAN ? 1 : is == FP_INFINITE ? 2 : is == FP_ZERO ? 3 : is == FP_SUBNORMAL ? 4 : is == FP_NORMAL ? 5 : 6;
}

static __int128 wide(long double high, long double low)
{
	struct image h = image(high), l = image(low);

	return (__int128)((unsigned __int128)(h.mantissa ^ h.exponent) << 64 | l.mantissa) >> (l.exponent & 63);
}

/* A digest of the results of several functions under a rounding direction. */
static long double mixed(long double sum, long double value)
{
	struct image is = image(value);

	return (long double)(((unsigned long long)sum * 31 + is.mantissa + is.exponent) & 0x7fffffffffffffffULL);
}

#define directed(F, direction, x)                                                          \
	({                                                                                 \
		volatile __typeof__(*(x)) a = (x)[0], b = (x)[1], c = (x)[2];              \
		volatile long double sum = 0;                                              \
		volatile float f;                                                          \
		fesetround(direction);                                                     \
		sum = mixed(sum, F(rint)(a));                                              \
		sum = mixed(sum, F(nearbyint)(b));                                         \
		sum = mixed(sum, fits(c) ? F(lrint)(c) : 1);                               \
		sum = mixed(sum, fits(c) ? F(llrint)(c) : 1);                              \
		sum = mixed(sum, F(sqrt)(a));                                              \
		sum = mixed(sum, F(fma)(a, b, c));                                         \
		sum = mixed(sum, a + b);                                                   \
		sum = mixed(sum, a * b);                                                   \
		sum = mixed(sum, a / c);                                                   \
		sum = mixed(sum, f = a);                                                   \
		sum = mixed(sum, fegetround() == (direction));                             \
		fesetround(FE_TONEAREST);                                                  \
		sum;                                                                       \
	})

/*
 * The exceptions that the processor recorded; those for inexact and for small results are not
 * guaranteed.
 */
#define RAISES(call) RAISES_OF(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW, call)
#define RAISES_OF(exceptions, call) (feclearexcept(FE_ALL_EXCEPT), r = (call), fetestexcept(exceptions))
#define raised(F, x)                                                                       \
	({                                                                                 \
		volatile __typeof__((x)[0] + 0) a = (x)[0], b = (x)[1], r __attribute__((unused));                     \
		long double sum = 0;                                                       \
		sum = mixed(sum, RAISES(F(sqrt)(a)));                                      \
		sum = mixed(sum, RAISES(F(exp)(a)));                                       \
		sum = mixed(sum, RAISES(F(log)(a)));                                       \
		sum = mixed(sum, RAISES(F(log2)(a)));                                      \
		/* The long one squares an argument that it then refuses. */               \
		sum = mixed(sum, RAISES_OF(FE_DIVBYZERO | FE_INVALID, F(acos)(a)));        \
		sum = mixed(sum, RAISES(F(sin)(a)));                                       \
		sum = mixed(sum, RAISES(F(atanh)(a)));                                     \
		sum = mixed(sum, RAISES(F(fmod)(a, b)));                                   \
		sum = mixed(sum, RAISES(F(pow)(a, b)));                                    \
		sum = mixed(sum, RAISES(a / b));                                           \
		feclearexcept(FE_ALL_EXCEPT);                                              \
		sum;                                                                       \
	})

/* As __builtin_powi, whose helper is in the compiler's library. */
float __powisf2(float, int);
double __powidf2(double, int);
long double __powixf2(long double, int);
/* The only function with the type in the middle of its name. */
#define lgamma_rf lgammaf_r
#define lgamma_rl lgammal_r
#define powi(x, n) (sizeof(x) == 4 ? __powisf2(x, n) : sizeof(x) == 8 ? __powidf2(x, n) : __powixf2(x, n))

#ifdef NATIVE
#include <stdio.h>

static void begin(const char *name, const char *type)
{
	printf("/* %s %s */\n", type, name);
}

static void one(const struct function *of, const void *x, long double a, long double b, long double c, long double value, enum kind kind)
{
	struct image is = image(value);

	(void)of, (void)x, (void)a, (void)b, (void)c, (void)kind;
	printf("{0x%llxu,%u},\n", is.mantissa, is.exponent);
}
#else
#include <rtl.h>
#include <rtl_printf.h>
#include <pthread.h>
#include <pillion.h>

static const struct image expected[] = {
#include "math.native"
};

static unsigned int next, wrong, seen;

/* For the function under test, the number of wrong results and the worst one. */
static const char *type;
static unsigned int bad;
static long long worst;
static char worst_text[200];

static void report(void)
{
	if (bad)
		rtl_printf("%s %s: %u wrong\n", type, worst_text, bad);
	wrong += bad;
	bad = 0;
	worst = 0;
}

static void begin(const char *name, const char *of)
{
	(void)name;
	report();
	type = of;
}

/* The rank of a number among all numbers of its type. */
static __int128 place(struct image is, enum kind kind)
{
	int exponent = is.exponent & 0x7fff, least = kind == FLOAT ? -126 : -1022, bits = kind == FLOAT ? 24 : 53;
	unsigned long long mantissa = is.mantissa;
	__int128 place;

	if (kind == LONG) {
		place = exponent ? ((__int128)(exponent - 1) << 63) + mantissa : mantissa;
	} else if (exponent == 0x7fff) {
		place = (__int128)(kind == FLOAT ? 255 : 2047) << (bits - 1);
	} else if (mantissa) {
		exponent -= 16383;
		mantissa >>= exponent < least ? 64 - bits + least - exponent : 64 - bits;
		place = exponent < least ? mantissa : ((__int128)(exponent - least) << (bits - 1)) + mantissa;
	} else {
		place = 0;
	}
	return is.exponent >> 15 & 1 ? -place : place;
}

static int is_zero(struct image is)
{
	return is.mantissa == 0 && (is.exponent & 0x7fff) == 0;
}

static __int128 distance(const struct function *of, struct image is, struct image right, enum kind kind)
{
	__int128 beside;

	if (is.exponent == right.exponent && is.mantissa == right.mantissa)
		return 0;
	if (is.exponent == NO_NUMBER || right.exponent == NO_NUMBER || !of->tolerance || (is_zero(is) && is_zero(right)))
		return FAR;
	beside = place(is, kind) - place(right, kind);
	return beside < 0 ? -beside : beside;
}

static void one(const struct function *of, const void *x, long double a, long double b, long double c, long double value, enum kind kind)
{
	struct image is = image(value), right = expected[next++];
	__int128 far = distance(of, is, right, kind);
	long double error = value - value_of(right);

	(void)x;
	seen++;
	if (far <= of->tolerance || (of->tolerance && error <= of->least && error >= -of->least))
		return;
	bad++;
	if (far > worst) {
		worst = far > FAR ? FAR : (long long)far;
		snprintf(worst_text, sizeof(worst_text), "%s(%La, %La, %La) = %La, not %La, %lld beside", of->name, a, b, c, value, value_of(right), worst);
	}
}
#endif

#define T float
#define F(name) FUNCTION(name##f)
#define NAMED(name) name##_in_float
#define TOLERANCE(f, d, l) f
#define T_MAX FLT_MAX
#define T_MIN FLT_MIN
#define T_TINY 0x1p-149f
#define T_EPSILON FLT_EPSILON
#define T_KIND FLOAT
#define T_NAME "float"
#define HAS_BESSEL 1
#include "native/math-type.h"

#define T double
#define F(name) FUNCTION(name)
#define NAMED(name) name##_in_double
#define TOLERANCE(f, d, l) d
#define T_MAX DBL_MAX
#define T_MIN DBL_MIN
#define T_TINY 0x1p-1074
#define T_EPSILON DBL_EPSILON
#define T_KIND DOUBLE
#define T_NAME "double"
#define HAS_BESSEL 1
#include "native/math-type.h"

#define T long double
#define F(name) FUNCTION(name##l)
#define NAMED(name) name##_in_long_double
#define TOLERANCE(f, d, l) l
#define T_MAX LDBL_MAX
#define T_MIN LDBL_MIN
#define T_TINY 0x1p-16445L
#define T_EPSILON LDBL_EPSILON
#define T_KIND LONG
#define T_NAME "long double"
#define HAS_BESSEL 0
#include "native/math-type.h"

#ifndef NATIVE
static void finish(void)
{
	report();
	rtl_printf("mathematics: %u results, %u wrong\n", seen, wrong);
}
#endif
#include "native/all-types.h"
