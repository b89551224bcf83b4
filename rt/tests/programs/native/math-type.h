/*
 * The table of functions for one type. T is the type, F(name) the function's name for that type,
 * NAMED(name) a name of our own, TOLERANCE(f, d, l) the tolerance for it, REAL(name) true unless
 * the C library has no such function for the type. Included once for each type.
 *
 * Each function becomes `long double NAME(const T *x)`, as long double holds every value of the
 * three types, and every long long.
 */

/* Where the C standard requires the one correct result: the host's own function. */
#define EXACT(name, arity, expression)                                             \
	static long double NAMED(name)(const T *x)                                 \
	{                                                                          \
		return expression;                                                 \
	}
/* Otherwise: the host computes in 113 bits and rounds once. */
#ifdef NATIVE
#define CLOSE(name, arity, f, d, l, least, expression, right)                      \
	static long double NAMED(name)(const T *x)                                 \
	{                                                                          \
		return (T)(right);                                                 \
	}
#else
#define CLOSE(name, arity, f, d, l, least, expression, right)                      \
	EXACT(name, arity, expression)
#endif
#include "math-functions.h"
#undef EXACT
#undef CLOSE

static const struct function NAMED(functions)[] = {
#define EXACT(name, arity, expression) { #name, arity, 0, 0, (call)NAMED(name) },
#define CLOSE(name, arity, f, d, l, least, expression, right) { #name, arity, TOLERANCE(f, d, l), least, (call)NAMED(name) },
#include "math-functions.h"
#undef EXACT
#undef CLOSE
};

/* Numbers at which functions change their behaviour, and special numbers. */
static const T NAMED(edges)[] = {
	/* The first line, SOME numbers, is for functions of two arguments. */
	0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, T_MAX, -T_MAX, T_TINY, -T_TINY, 1.0L / 0.0L, -1.0L / 0.0L, NAN, T_MIN, -T_MIN, 1.5, -2.5, 3,
	T_MIN - T_TINY, 1 + T_EPSILON, 1 - T_EPSILON / 2, -1 - T_EPSILON, -1 + T_EPSILON / 2, 0.5L - T_EPSILON / 4, -0.5L + T_EPSILON / 4, 2.5, -1.5, 3.5, -3, -3.5, 10, -10,
	0.78539816339744830962L, 1.57079632679489661923L, 3.14159265358979323846L, 6.28318530717958647693L, 2.71828182845904523536L, 0.69314718055994530942L,
	22, 100, 1e5L, 1e10L, 1e22L, -1e22L, 1e-5L, -1e-5L, 1e-10L, 1e-30L, 88.72283L, 88.73L, -103.97L, -104.1L, 709.782712893384L, 709.79L, -745.13L, -745.2L,
	11356.52L, 11357, -11355.5L, -11400, -16400, 35.04L, 171.6L, 171.7L, 1755.5L, -184.5L, 1e-310L, 2147483647, -2147483648.0L, 2147483647.5L, 4294967296.0L,
	8388607.5L, 8388609, 4503599627370495.5L, 4503599627370497.0L, 9007199254740993.0L, 4611686018427387904.0L, 9223372036854775807.0L, -9223372036854775808.0L,
	1.4616321449683623413L, -0.5040830082644554092L, -2.457024738220800L, 2.40482555769577277L, 0.89357696627916752L, 5.52007811028631064L, 0.46163214496836234L,
};

static T NAMED(random)(unsigned long long *seed)
{
	static const int scales[] = { 63, 62, 60, 53, 40 };
	union { T value; struct { unsigned long long low; unsigned short high; } bits; } any;
	unsigned long long kind = draw(seed);

	if (kind & 1)
		return (T)(long long)draw(seed) / (T)(1ULL << scales[kind / 2 % 5]);
	any.value = 0;
	any.bits.low = draw(seed);
	if (sizeof(T) > 8) {
		any.bits.high = (unsigned short)draw(seed);
		/* Without the first bit of its mantissa it would not be a number. */
		any.bits.low |= any.bits.high & 0x7fff ? 1ULL << 63 : 0;
		any.bits.low &= any.bits.high & 0x7fff ? ~0ULL : ~0ULL >> 1;
		/* Half of them in the range of most arguments. */
		if (kind & 2)
			any.bits.high = (any.bits.high & 0x803f) + 0x3fe0, any.bits.low |= 1ULL << 63;
	}
	/* Results for a signalling NaN are not guaranteed. */
	return any.value == any.value ? any.value : (T)NAN;
}

static void NAMED(all)(void)
{
	enum { EDGES = sizeof(NAMED(edges)) / sizeof(NAMED(edges)[0]), SOME = 20, MORE = 8, COUNT = sizeof(NAMED(functions)) / sizeof(NAMED(functions)[0]) };
	unsigned int i, j, k, n;

	for (i = 0; i < COUNT; i++) {
		const struct function *of = &NAMED(functions)[i];
		unsigned long long seed = 1000 + i;
		T x[3] = { 0, 0, 0 };

		begin(of->name, T_NAME);
		for (j = 0; j < (of->arity == 1 ? EDGES : of->arity == 2 ? SOME : MORE); j++)
			for (k = 0; k < (of->arity == 1 ? 1 : of->arity == 2 ? SOME : MORE); k++)
				for (n = 0; n < (of->arity < 3 ? 1 : MORE); n++) {
					x[0] = NAMED(edges)[j];
					x[1] = NAMED(edges)[k];
					x[2] = NAMED(edges)[n];
					one(of, x, x[0], x[1], x[2], ((long double (*)(const T *))of->of)(x), T_KIND);
				}
		for (j = 0; j < RANDOM; j++) {
			for (k = 0; k < 3; k++)
				x[k] = NAMED(random)(&seed);
			one(of, x, x[0], x[1], x[2], ((long double (*)(const T *))of->of)(x), T_KIND);
		}
	}
}

#undef T
#undef F
#undef NAMED
#undef TOLERANCE
#undef T_MAX
#undef T_MIN
#undef T_TINY
#undef T_EPSILON
#undef T_KIND
#undef T_NAME
#undef HAS_BESSEL
