/*
 * Replacements for math functions that musl gets wrong for some arguments. Where musl is right for
 * all others, the replacement calls musl's function by the name that the build gives it
 * (tools/x/src/task/runtime.rs).
 */
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <stdint.h>

double c_library_acosh(double x);
long double c_library_acoshl(long double x);
long double c_library_expl(long double x);
long double c_library_powl(long double x, long double y);
long double c_library_tgammal(long double x);

/* For arguments from -8192 and -2^32 down, musl's return numbers instead of NaN. */
double acosh(double x)
{
	return x < 1 ? (x - x) / (x - x) : c_library_acosh(x);
}

long double acoshl(long double x)
{
	return x < 1 ? (x - x) / (x - x) : c_library_acoshl(x);
}

static long double two_to_x_minus_1(long double x)
{
	__asm__("f2xm1" : "+t"(x));
	return x;
}

/* Needed because musl's archive has it in one member with expm1l. */
long double exp2l(long double x)
{
	long double whole;

	if (!(x < 16384 && x > -16446))
		return x > 0 ? x * 0x1p16383L : x != x ? x : 0x1p-16445L * 0x1p-16445L;
	whole = rintl(x);
	return scalbnl(1 + two_to_x_minus_1(x - whole), (int)whole);
}

/* From -16384 down to -16446, musl's returns powers of 2. */
long double expl(long double x)
{
	return x < -12000 ? 0x1p-16445L * 0x1p-16445L : c_library_expl(x);
}

/* From 16 on, musl's is powl(10, x). */
long double exp10l(long double x)
{
	/* The logarithm of 2 in two parts, as in expm1l. */
	const long double high = 0x134413509f79fp-50L, low = 0xef311f12b35816f9p-114L, log2_10 = 0xd49a784bcd1b8afep-62L;
	long double times, power = 1;

	if (!(x < 4933 && x > -4952))
		return x > 0 ? x * 0x1p16383L : x != x ? x : 0x1p-16445L * 0x1p-16445L;
	/* Exact powers. */
	if (rintl(x) == x && fabsl(x) <= 27) {
		for (times = fabsl(x); times > 0; times--)
			power *= 10;
		return x < 0 ? 1 / power : power;
	}
	times = rintl(x * log2_10);
	return scalbnl(1 + two_to_x_minus_1((x - times * high - times * low) * log2_10), (int)times);
}

/* An older name of exp10l, in the same member of musl's archive. */
long double pow10l(long double x)
{
	return exp10l(x);
}

/* musl's loses a bit for each doubling of a large result; its sinhl and tanhl call this one. */
long double expm1l(long double x)
{
	/* ln 2 in two parts; the first stays exact when multiplied by a 15-bit number. */
	const long double high = 0x162e42fefa39ep-49L, low = 0xf35793c7673007e6p-113L, log2_e = 0xb8aa3b295c17f0bcp-63L;
	long double times, rest;

	if (!(x < 11357 && x > -65))
		return x > 0 ? x * 0x1p16383L : x != x ? x : x + 1 == x ? -1 : -1 + 0x1p-70L;
	times = rintl(x * log2_e);
	if (times == 0)
		return two_to_x_minus_1(x * log2_e) + (x == 0 ? x : 0);
	rest = two_to_x_minus_1((x - times * high - times * low) * log2_e);
	if (times > 65)
		return scalbnl(1 + rest, (int)times);
	return scalbnl(rest, (int)times) + (scalbnl(1, (int)times) - 1);
}

/* From the smallest negative normal number, musl's steps over all the subnormal ones. */
long double nextafterl(long double x, long double y)
{
	union { long double value; struct { uint64_t mantissa; uint16_t exponent; } bits; } at;
	const uint64_t first = 1ULL << 63;

	if (x != x || y != y)
		return x + y;
	if (x == y)
		return y;
	at.value = x;
	if (x == 0) {
		at.bits.mantissa = 1;
		at.bits.exponent = y < 0 ? 0x8000 : 0;
	} else if ((x < y) == (x > 0)) {
		at.bits.mantissa++;
		if ((at.bits.mantissa & ~first) == 0 && (at.bits.mantissa == 0 || (at.bits.exponent & 0x7fff) == 0)) {
			at.bits.mantissa = first;
			at.bits.exponent++;
		}
	} else {
		if (at.bits.mantissa == first) {
			at.bits.exponent--;
			at.bits.mantissa = at.bits.exponent & 0x7fff ? 0 : first;
		}
		at.bits.mantissa--;
	}
	/* Raise the exceptions that the standard requires. */
	if ((at.bits.exponent & 0x7fff) == 0x7fff || (at.bits.exponent & 0x7fff) == 0) {
		volatile long double inexact = x * ((at.bits.exponent & 0x7fff) ? 2 : 0x1p-64L);

		(void)inexact;
	}
	return at.value;
}

static int is_odd(long double whole)
{
	return fabsl(whole) <= LDBL_MAX && fmodl(whole, 2) != 0;
}

/* musl's treats the largest number as infinity, and loses the sign of some results. */
long double powl(long double x, long double y)
{
	long double size = fabsl(x);

	if (x == 1 || y == 0)
		return 1;
	if (x != x || y != y)
		return x + y;
	if (size == 1 && fabsl(y) >= LDBL_MAX)
		return 1;
	if (size == LDBL_MAX)
		size = nextafterl(size, 0);
	if (!signbit(x))
		return c_library_powl(size, y);
	if (x != 0 && x >= -LDBL_MAX && rintl(y) != y)
		return (x - x) / (x - x);
	return rintl(y) == y && is_odd(y) ? -c_library_powl(size, y) : c_library_powl(size, y);
}

/* musl's has wrong signs for some negative arguments, and misses the last before infinity. */
long double tgammal(long double x)
{
	if (x > 1755 && x < 1756)
		return (x - 1) * c_library_tgammal(x - 1);
	if (x < 0 && rintl(x) != x)
		return copysignl(c_library_tgammal(x), is_odd(floorl(x)) ? -1 : 1);
	return c_library_tgammal(x);
}
