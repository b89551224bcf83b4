/*
 * Complex functions. musl's lose the last digits, and all of them where terms cancel, and its
 * functions for long double are those for double. The functions here compute in long double by
 * Kahan's formulas ("Branch cuts for complex elementary functions", 1987), in which nothing
 * cancels. The float and double functions that musl gets wrong are rounded from these, and so are
 * nearly always right.
 */
#define _GNU_SOURCE
#include <complex.h>
#include <float.h>
#include <math.h>

typedef long double real;
typedef long double _Complex number;

static const real half_pi = 0xc90fdaa22168c235p-63L, ln_2 = 0xb17217f7d1cf79acp-64L;

/* Bounds beyond which squares overflow or vanish. */
#define LARGE 0x1p16300L
#define SMALL 0x1p-16300L

static real larger(number z)
{
	return fmaxl(fabsl(creall(z)), fabsl(cimagl(z)));
}

static number none(void)
{
	return CMPLXL(NAN, NAN);
}

static number times_i(number z)
{
	return CMPLXL(-cimagl(z), creall(z));
}

static number by_i(number z)
{
	return CMPLXL(cimagl(z), -creall(z));
}

/* factor * e^x * by, where e^x alone may overflow. */
static real grown(real factor, real x, real by)
{
	real root = expl(x / 2);

	return x > 11356 ? factor * root * by * root : factor * expl(x) * by;
}

number cexpl(number z)
{
	real x = creall(z), y = cimagl(z);

	if (y == 0)
		return CMPLXL(expl(x), y);
	if (!isfinite(y))
		return x < 0 && isinf(x) ? 0 : isinf(x) ? CMPLXL(x, NAN) : none();
	return CMPLXL(grown(1, x, cosl(y)), grown(1, x, sinl(y)));
}

number csinhl(number z)
{
	real x = creall(z), y = cimagl(z);

	if (y == 0)
		return CMPLXL(sinhl(x), y);
	if (!isfinite(y))
		return x == 0 || isinf(x) ? CMPLXL(x, NAN) : none();
	if (fabsl(x) > 11356)
		return CMPLXL(grown(copysignl(0.5L, x), fabsl(x), cosl(y)), grown(0.5L, fabsl(x), sinl(y)));
	return CMPLXL(sinhl(x) * cosl(y), coshl(x) * sinl(y));
}

number ccoshl(number z)
{
	real x = creall(z), y = cimagl(z);

	if (y == 0)
		return CMPLXL(coshl(x), copysignl(y, signbit(x) ? -y : y));
	if (!isfinite(y))
		return x == 0 ? CMPLXL(NAN, 0) : isinf(x) ? CMPLXL(INFINITY, NAN) : none();
	if (x == 0)
		return CMPLXL(cosl(y), x * sinl(y));
	if (fabsl(x) > 11356)
		return CMPLXL(grown(0.5L, fabsl(x), cosl(y)), grown(copysignl(0.5L, x), fabsl(x), sinl(y)));
	return CMPLXL(coshl(x) * cosl(y), sinhl(x) * sinl(y));
}

number ctanhl(number z)
{
	real x = creall(z), y = cimagl(z), tangent, sine, beta, part;

	if (y == 0)
		return CMPLXL(tanhl(x), y);
	if (isinf(x))
		return CMPLXL(copysignl(1, x), isfinite(y) ? 0 * sinl(y) * cosl(y) : 0);
	if (!isfinite(y))
		return x == 0 ? CMPLXL(x, NAN) : none();
	if (fabsl(x) > 30)
		return CMPLXL(copysignl(1, x), 4 * sinl(y) * cosl(y) * expl(-2 * fabsl(x)));
	tangent = tanl(y);
	sine = sinhl(x);
	beta = 1 + tangent * tangent;
	part = 1 + beta * sine * sine;
	return CMPLXL(beta * sqrtl(1 + sine * sine) * sine / part, tangent / part);
}

number csinl(number z)
{
	return by_i(csinhl(times_i(z)));
}

number ccosl(number z)
{
	return ccoshl(times_i(z));
}

number ctanl(number z)
{
	return by_i(ctanhl(times_i(z)));
}

number csqrtl(number z)
{
	real x = creall(z), y = cimagl(z), scale = 1, root;

	if (isinf(y))
		return CMPLXL(INFINITY, y);
	if (isinf(x) && x > 0)
		return CMPLXL(x, isnan(y) ? y : copysignl(0, y));
	if (isinf(x))
		return CMPLXL(isnan(y) ? y : 0, copysignl(INFINITY, y));
	if (isnan(x) || isnan(y))
		return none();
	if (x == 0 && y == 0)
		return CMPLXL(0, y);
	if (larger(z) > LARGE)
		x *= 0x1p-128L, y *= 0x1p-128L, scale = 0x1p64L;
	else if (larger(z) < SMALL)
		x *= 0x1p128L, y *= 0x1p128L, scale = 0x1p-64L;
	root = sqrtl((fabsl(x) + hypotl(x, y)) / 2);
	if (x >= 0)
		return CMPLXL(scale * root, scale * (y / (2 * root)));
	return CMPLXL(scale * (fabsl(y) / (2 * root)), copysignl(scale * root, y));
}

static real log_of_size(number z)
{
	real x = fabsl(creall(z)), y = fabsl(cimagl(z)), more = larger(z);

	if (isnan(x) || isnan(y))
		return hypotl(x, y);
	if (more > 0.5L && more < 2)
		return log1pl((more - 1) * (more + 1) + fminl(x, y) * fminl(x, y)) / 2;
	if (more > LARGE)
		return logl(hypotl(x * 0x1p-64L, y * 0x1p-64L)) + 64 * ln_2;
	if (more < SMALL)
		return logl(hypotl(x * 0x1p128L, y * 0x1p128L)) - 128 * ln_2;
	return logl(hypotl(x, y));
}

number clogl(number z)
{
	return CMPLXL(log_of_size(z), cargl(z));
}

number cacosl(number z)
{
	real x = creall(z), y = cimagl(z);
	number of_more, of_less;

	if (isnan(x) || isnan(y))
		return isinf(x) || isinf(y) ? CMPLXL(NAN, copysignl(INFINITY, -y)) : CMPLXL(x == 0 ? half_pi : NAN, NAN);
	if (larger(z) > LARGE)
		return CMPLXL(atan2l(fabsl(y), x), copysignl(log_of_size(z) + ln_2, -y));
	of_more = csqrtl(CMPLXL(1 + x, y));
	of_less = csqrtl(CMPLXL(1 - x, -y));
	return CMPLXL(2 * atan2l(creall(of_less), creall(of_more)), asinhl(creall(of_more) * cimagl(of_less) - cimagl(of_more) * creall(of_less)));
}

number cacoshl(number z)
{
	real x = creall(z), y = cimagl(z);
	number of_more, of_less;

	if (isnan(x) || isnan(y))
		return isinf(x) || isinf(y) ? CMPLXL(INFINITY, NAN) : CMPLXL(NAN, x == 0 ? half_pi : NAN);
	if (larger(z) > LARGE)
		return CMPLXL(log_of_size(z) + ln_2, atan2l(y, x));
	of_more = csqrtl(CMPLXL(x + 1, y));
	of_less = csqrtl(CMPLXL(x - 1, y));
	return CMPLXL(asinhl(creall(of_less) * creall(of_more) + cimagl(of_less) * cimagl(of_more)), 2 * atan2l(cimagl(of_less), creall(of_more)));
}

number casinl(number z)
{
	real x = creall(z), y = cimagl(z);
	number of_more, of_less;

	if (isnan(x) || isnan(y))
		return isinf(x) || isinf(y) ? CMPLXL(NAN, copysignl(INFINITY, y)) : CMPLXL(x == 0 ? x : NAN, NAN);
	if (larger(z) > LARGE)
		return CMPLXL(atan2l(x, fabsl(y)), copysignl(log_of_size(z) + ln_2, y));
	of_more = csqrtl(CMPLXL(1 + x, y));
	of_less = csqrtl(CMPLXL(1 - x, -y));
	return CMPLXL(atan2l(x, creall(of_more) * creall(of_less) - cimagl(of_more) * cimagl(of_less)),
	              asinhl(creall(of_less) * cimagl(of_more) - cimagl(of_less) * creall(of_more)));
}

number casinhl(number z)
{
	return by_i(casinl(times_i(z)));
}

number catanhl(number z)
{
	real x = creall(z), y = cimagl(z), size = fabsl(x), angle = copysignl(half_pi, y), far;

	if (isinf(x) || isinf(y))
		return CMPLXL(copysignl(0, x), isnan(y) ? y : angle);
	if (isnan(x) || isnan(y))
		return CMPLXL(x == 0 ? x : NAN, NAN);
	if (larger(z) > 0x1p70L) {
		far = hypotl(x / 2, y / 2);
		return CMPLXL(x / 4 / far / far, angle);
	}
	if (size == 1)
		far = (logl(hypotl(y, 2)) - logl(fabsl(y))) / 2;
	else
		far = log1pl(4 * size / ((1 - size) * (1 - size) + y * y)) / 4;
	return CMPLXL(copysignl(far, x), atan2l(2 * y, (1 - size) * (1 + size) - y * y) / 2);
}

number catanl(number z)
{
	return by_i(catanhl(times_i(z)));
}

#define ROUNDED(name)                                   \
	double _Complex name(double _Complex z)         \
	{                                               \
		return (double _Complex)name##l(z);     \
	}                                               \
	float _Complex name##f(float _Complex z)        \
	{                                               \
		return (float _Complex)name##l(z);      \
	}
ROUNDED(csqrt)
ROUNDED(clog)
ROUNDED(cacos)
ROUNDED(cacosh)
ROUNDED(casin)
ROUNDED(casinh)
ROUNDED(catan)
ROUNDED(catanh)
