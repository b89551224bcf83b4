/*
 * Every function of <math.h>. EXACT(name, arguments, call): the result must be the one that the C
 * standard and IEEE 754 require. CLOSE(name, arguments, tolerance in float, double, long double,
 * least, call, in 113 bits): with a tolerance of n, the result is at most the n-th number beside
 * the correct one; `least` is an error that does not count, for functions that are small where
 * their terms are not. The tolerances are what three times 2,000 random arguments for each function
 * needed, and some more; the test itself has fewer arguments.
 */
#define ONE(name, f, d, l) CLOSE(name, 1, f, d, l, 0, F(name)(x[0]), name##f128(x[0]))
#define TWO(name, f, d, l) CLOSE(name, 2, f, d, l, 0, F(name)(x[0], x[1]), name##f128(x[0], x[1]))

ONE(acos, 1, 1, 1)
ONE(acosh, 1, 1, 3)
ONE(asin, 1, 1, 3)
ONE(asinh, 1, 1, 3)
ONE(atan, 1, 1, 1)
ONE(atanh, 1, 1, 4)
ONE(cbrt, 1, 1, 1)
ONE(cos, 1, 1, 1)
ONE(cosh, 1, 1, 1)
ONE(erf, 1, 1, 1)
ONE(erfc, 2, 2, 3)
ONE(exp, 1, 1, 1)
/* A power of ten times a power of two, except for long double. */
ONE(exp10, 4, 4, 1)
CLOSE(pow10, 1, 4, 4, 1, 0, F(pow10)(x[0]), exp10f128(x[0]))
ONE(exp2, 1, 1, 1)
ONE(expm1, 1, 1, 3)
ONE(log, 1, 1, 1)
ONE(log10, 1, 1, 1)
ONE(log1p, 1, 1, 3)
ONE(log2, 1, 1, 1)
ONE(sin, 1, 1, 1)
ONE(sinh, 2, 2, 3)
ONE(tan, 1, 1, 1)
ONE(tanh, 2, 2, 3)
/* Stirling's series times a power, in the precision of the result except for float. */
ONE(tgamma, 1, 8, 64)
/* Crosses zero between -4 and 3, as a difference of numbers near 1. */
CLOSE(lgamma, 1, 2, 2, 2, 8 * T_EPSILON, F(lgamma)(x[0]), lgammaf128(x[0]))
TWO(atan2, 1, 1, 1)
TWO(hypot, 1, 1, 1)
/*
 * The long double error grows with the exponents, up to 9 of 64 bits: there is no wider type for
 * the logarithm.
 */
TWO(pow, 1, 1, 512)
CLOSE(sincos_sine, 1, 1, 1, 1, 0, ({ T s, c; F(sincos)(x[0], &s, &c); s; }), sinf128(x[0]))
CLOSE(sincos_cosine, 1, 1, 1, 1, 0, ({ T s, c; F(sincos)(x[0], &s, &c); c; }), cosf128(x[0]))
CLOSE(lgamma_r, 1, 2, 2, 2, 8 * T_EPSILON, ({ int sign; F(lgamma_r)(x[0], &sign); }), lgammaf128(x[0]))
EXACT(lgamma_r_sign, 1, ({ int sign = 0; T v = F(lgamma_r)(x[0], &sign); v - v == 0 ? sign : 0; }))
EXACT(lgamma_signgam, 1, ({ T v = F(lgamma)(x[0]); v - v == 0 ? signgam : 0; }))
#if HAS_BESSEL
/* Sums of terms, of which the largest counts; higher orders by recursion. */
CLOSE(j0, 1, 4, 4, 0, T_EPSILON, F(j0)(x[0]), j0f128(x[0]))
CLOSE(j1, 1, 4, 4, 0, T_EPSILON, F(j1)(x[0]), j1f128(x[0]))
CLOSE(jn, 2, 16, 16, 0, T_EPSILON, F(jn)(small(x[1]), x[0]), jnf128(small(x[1]), x[0]))
CLOSE(y0, 1, 4, 4, 0, T_EPSILON, F(y0)(x[0]), y0f128(x[0]))
CLOSE(y1, 1, 4, 4, 0, T_EPSILON, F(y1)(x[0]), y1f128(x[0]))
CLOSE(yn, 2, 16, 16, 0, T_EPSILON, F(yn)(small(x[1]), x[0]), ynf128(small(x[1]), x[0]))
EXACT(drem, 2, F(drem)(x[0], x[1]))
EXACT(scalb, 2, F(scalb)(x[0], small(x[1])))
EXACT(significand, 1, F(significand)(x[0]))
EXACT(finite, 1, !!F(finite)(x[0]))
#endif

EXACT(ceil, 1, F(ceil)(x[0]))
EXACT(fabs, 1, F(fabs)(x[0]))
EXACT(floor, 1, F(floor)(x[0]))
EXACT(logb, 1, F(logb)(x[0]))
EXACT(nearbyint, 1, F(nearbyint)(x[0]))
EXACT(rint, 1, F(rint)(x[0]))
EXACT(round, 1, F(round)(x[0]))
EXACT(sqrt, 1, F(sqrt)(x[0]))
EXACT(trunc, 1, F(trunc)(x[0]))
EXACT(copysign, 2, F(copysign)(x[0], x[1]))
EXACT(fdim, 2, F(fdim)(x[0], x[1]))
/* Which zero results where they differ in sign is not guaranteed. */
EXACT(fmax, 2, F(fmax)(x[0], x[1]) + (T)0)
EXACT(fmin, 2, F(fmin)(x[0], x[1]) + (T)0)
EXACT(fmod, 2, F(fmod)(x[0], x[1]))
EXACT(nextafter, 2, F(nextafter)(x[0], x[1]))
EXACT(nexttoward, 2, F(nexttoward)(x[0], (long double)x[1]))
EXACT(remainder, 2, F(remainder)(x[0], x[1]))
EXACT(remquo, 2, ({ int q; F(remquo)(x[0], x[1], &q); }))
/* Not for long double: QEMU's FPREM1 does not deliver the quotient. */
EXACT(remquo_quotient, 2, sizeof(T) > 8 ? 0 : ({ int q = 0; T r = F(remquo)(x[0], x[1], &q); r == r ? (q < 0 ? -(-q & 7) : q & 7) : 0; }))
EXACT(fma, 3, F(fma)(x[0], x[1], x[2]))
EXACT(frexp, 1, ({ int e; F(frexp)(x[0], &e); }))
EXACT(frexp_exponent, 1, ({ int e = 0; T v = F(frexp)(x[0], &e); v - v == 0 ? e : 0; }))
EXACT(modf, 1, ({ T whole; F(modf)(x[0], &whole); }))
EXACT(modf_whole, 1, ({ T whole; F(modf)(x[0], &whole); whole; }))
EXACT(ldexp, 2, F(ldexp)(x[0], exponent(x[1])))
EXACT(scalbn, 2, F(scalbn)(x[0], exponent(x[1])))
EXACT(scalbln, 2, F(scalbln)(x[0], exponent(x[1])))
EXACT(ilogb, 1, x[0] - x[0] == 0 && x[0] != 0 ? F(ilogb)(x[0]) : 0)
/* A result that does not fit a long is the processor's choice. */
EXACT(lrint, 1, fits(x[0]) ? F(lrint)(x[0]) : 0)
EXACT(llrint, 1, fits(x[0]) ? F(llrint)(x[0]) : 0)
EXACT(lround, 1, fits(x[0]) ? F(lround)(x[0]) : 0)
EXACT(llround, 1, fits(x[0]) ? F(llround)(x[0]) : 0)
EXACT(nan, 1, F(nan)(""))
EXACT(classes, 1, class(fpclassify(x[0])) + 10 * !!isfinite(x[0]) + 20 * !!isinf(x[0]) + 40 * !!isnan(x[0]) + 80 * !!isnormal(x[0]) + 160 * !!signbit(x[0]))
EXACT(comparisons, 2, isgreater(x[0], x[1]) + 2 * isgreaterequal(x[0], x[1]) + 4 * isless(x[0], x[1]) + 8 * islessequal(x[0], x[1]) + 16 * islessgreater(x[0], x[1]) + 32 * isunordered(x[0], x[1]))

/* In other rounding directions, with the exceptions raised. */
EXACT(upward, 3, directed(F, FE_UPWARD, x))
EXACT(downward, 3, directed(F, FE_DOWNWARD, x))
EXACT(towards_zero, 3, directed(F, FE_TOWARDZERO, x))
EXACT(raised, 3, raised(F, x))

/* Helpers that the compiler calls by its own names: conversions from and to 128 bits, powers. */
EXACT(from_int128, 2, (T)wide(x[0], x[1]))
EXACT(to_int128, 2, ({ __int128 w = fits(x[0]) ? (__int128)(x[0] * (T)9007199254740992.0) : 0; (T)(long)(w >> 64) + (T)(unsigned long)w / 3; }))
EXACT(quad, 2, (T)((_Float128)x[0] * 3 - (_Float128)x[1] / 7))
EXACT(powi, 2, powi(x[0], small(x[1])))

#undef ONE
#undef TWO
