/*
 * Every function of <complex.h>, for float, double and long double, agrees with the host's, which
 * computes in 113 bits and rounds once: to within some units in the last place of the result's
 * larger part (native/complex-type.h), and exactly where the result is exact. Infinities and NaNs
 * are where the C standard requires them.
 *
 * native: -lm
 * prints: complex numbers: 44772 results, 0 wrong
 * limit: 120
 */
#define _GNU_SOURCE 1
#include <complex.h>
#include <float.h>
#include <math.h>

#include "native/image.h"

enum { RANDOM = 300, POWER = 128 };

struct about {
	const char *type, *name;
	int tolerance;
	long double epsilon, tiny;
};

#ifdef NATIVE
#include <stdio.h>

static void two(const struct about *about, long double x, long double y, long double a, long double b)
{
	(void)about, (void)x, (void)y;
	printf("{{0x%llxu,%u},{0x%llxu,%u}},\n", image(a).mantissa, image(a).exponent, image(b).mantissa, image(b).exponent);
}
#else
#include <rtl.h>
#include <rtl_printf.h>
#include <pthread.h>
#include <pillion.h>

static const struct image expected[][2] = {
#include "c-complex.native"
};

static unsigned int next, wrong;

static int same(long double is, long double right)
{
	return image(is).mantissa == image(right).mantissa && image(is).exponent == image(right).exponent;
}

/* How far a part is off, in units in the last place of the larger part. */
static long double units(const struct about *about, long double is, long double right, long double larger)
{
	long double unit = larger == 0 ? 0 : scalbnl(about->epsilon, ilogbl(larger));

	/* The C standard leaves the sign of some infinite and zero results open. */
	if (same(is, right) || (isinf(is) && isinf(right)))
		return 0;
	return is - is == 0 && right - right == 0 ? fabsl(is - right) / fmaxl(unit, about->tiny) : INFINITY;
}

static void two(const struct about *about, long double x, long double y, long double a, long double b)
{
	const struct image *right = expected[next++];
	long double c = value_of(right[0]), d = value_of(right[1]), larger = fmaxl(isinf(c) ? 0 : fabsl(c), isinf(d) ? 0 : fabsl(d)), far;

	if (same(a, c) && same(b, d))
		return;
	far = fmaxl(units(about, a, c, larger), units(about, b, d, larger));
	if (about->tolerance && far <= about->tolerance)
		return;
	if (wrong++ < 40)
		rtl_printf("%s %s(%Lg, %Lg) = %Lg, %Lg, not %Lg, %Lg: %Lg units\n", about->type, about->name, x, y, a, b, c, d, far);
}
#endif

#define T float
#define F(name) name##f
#define NAMED(name) name##_in_float
#define T_MAX FLT_MAX
#define T_MIN FLT_MIN
#define T_TINY 0x1p-149f
#define T_EPSILON FLT_EPSILON
#define T_NAME "float"
#include "native/complex-type.h"

#define T double
#define F(name) name
#define NAMED(name) name##_in_double
#define T_MAX DBL_MAX
#define T_MIN DBL_MIN
#define T_TINY 0x1p-1074
#define T_EPSILON DBL_EPSILON
#define T_NAME "double"
#include "native/complex-type.h"

#define T long double
#define F(name) name##l
#define NAMED(name) name##_in_long_double
#define T_MAX LDBL_MAX
#define T_MIN LDBL_MIN
#define T_TINY 0x1p-16445L
#define T_EPSILON LDBL_EPSILON
#define T_NAME "long double"
#include "native/complex-type.h"

#ifndef NATIVE
static void finish(void)
{
	rtl_printf("complex numbers: %u results, %u wrong\n", next, wrong);
}
#endif
#include "native/all-types.h"
