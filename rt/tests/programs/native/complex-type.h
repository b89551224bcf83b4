/*
 * The functions of <complex.h> for one type. T is the type, F(name) the function's name for that
 * type, NAMED(name) a name of our own. Included once for each type.
 *
 * EXACT requires both parts to be the only correct ones. CLOSE compares with the host's results,
 * computed in 113 bits and rounded once; a part may be off by `tolerance` units in the last place
 * of the larger part.
 */
#define CLOSE_ALL                                                                          \
	CLOSE(cacos, 4) CLOSE(cacosh, 4) CLOSE(casin, 4) CLOSE(casinh, 4) CLOSE(catan, 4) CLOSE(catanh, 4) \
	CLOSE(ccos, 4) CLOSE(ccosh, 4) CLOSE(cexp, 4) CLOSE(clog, 4) CLOSE(csin, 4) CLOSE(csinh, 4) \
	CLOSE(csqrt, 4) CLOSE(ctan, 4) CLOSE(ctanh, 4)

typedef union { T _Complex value; T part[2]; } NAMED(number);

#ifdef NATIVE
#define RIGHT(name) name##f128
typedef _Float128 _Complex NAMED(wide);
#else
#define RIGHT(name) F(name)
typedef T _Complex NAMED(wide);
#endif
#define CLOSE(name, tolerance)                                             \
	static void NAMED(name)(const T *x, T *result)                     \
	{                                                                  \
		NAMED(number) z = { .part = { x[0], x[1] } }, is;          \
		NAMED(wide) right = RIGHT(name)(z.value);                  \
                                                                           \
		is.value = (T _Complex)right;                              \
		result[0] = is.part[0];                                    \
		result[1] = is.part[1];                                    \
	}
CLOSE_ALL
#undef CLOSE

static void NAMED(cpow)(const T *x, T *result)
{
	NAMED(number) z = { .part = { x[0], x[1] } }, w = { .part = { x[2], x[3] } }, is;
	NAMED(wide) right = RIGHT(cpow)(z.value, w.value);

	is.value = (T _Complex)right;
	result[0] = is.part[0];
	result[1] = is.part[1];
}

static void NAMED(size)(const T *x, T *result)
{
	NAMED(number) z = { .part = { x[0], x[1] } };

	result[0] = (T)RIGHT(cabs)(z.value);
	result[1] = 0;
}

static void NAMED(angle)(const T *x, T *result)
{
	NAMED(number) z = { .part = { x[0], x[1] } };

	result[0] = (T)RIGHT(carg)(z.value);
	result[1] = 0;
}

static void NAMED(parts)(const T *x, T *result)
{
	NAMED(number) z = { .part = { x[0], x[1] } };

	result[0] = (F(creal))(z.value);
	result[1] = (F(cimag))(z.value);
}

static void NAMED(conj)(const T *x, T *result)
{
	NAMED(number) z = { .part = { x[0], x[1] } };

	z.value = F(conj)(z.value);
	result[0] = z.part[0];
	result[1] = z.part[1];
}

static void NAMED(cproj)(const T *x, T *result)
{
	NAMED(number) z = { .part = { x[0], x[1] } };

	z.value = F(cproj)(z.value);
	result[0] = z.part[0];
	result[1] = z.part[1];
}

static const T NAMED(edges)[] = {
	0.0, -0.0, 1, -1, 0.5, -0.75, 2, -3.5, T_TINY, -T_MIN, T_MAX, -T_MAX, 1.0L / 0.0L, -1.0L / 0.0L, NAN, 1 + T_EPSILON, 1e-5L, -1e5L, 1.57079632679489661923L, 30, -800,
};

static T NAMED(random)(unsigned long long *seed)
{
	unsigned long long kind = draw(seed) % 8;
	/* Mostly near 1, sometimes of any size that leaves no doubt about overflow. */
	T value = (T)(long long)draw(seed) / (T)(1ULL << 62);

	return kind < 5 ? value : kind < 6 ? value * 64 : kind < 7 ? value / (T)(1ULL << draw(seed) % 64) : value * (T)(1ULL << draw(seed) % 40);
}

static void NAMED(all)(void)
{
	enum { EDGES = sizeof(NAMED(edges)) / sizeof(NAMED(edges)[0]) };
	static const struct {
		struct about about;
		void (*of)(const T *x, T *result);
	} functions[] = {
#define CLOSE(name, tolerance) { { T_NAME, #name, tolerance, T_EPSILON, T_TINY }, NAMED(name) },
		CLOSE_ALL
#undef CLOSE
		{ { T_NAME, "cabs", 1, T_EPSILON, T_TINY }, NAMED(size) }, { { T_NAME, "carg", 1, T_EPSILON, T_TINY }, NAMED(angle) }, { { T_NAME, "cpow", POWER, T_EPSILON, T_TINY }, NAMED(cpow) },
		{ { T_NAME, "parts", 0, T_EPSILON, T_TINY }, NAMED(parts) }, { { T_NAME, "conj", 0, T_EPSILON, T_TINY }, NAMED(conj) }, { { T_NAME, "cproj", 0, T_EPSILON, T_TINY }, NAMED(cproj) },
	};
	unsigned int i, j;
	T x[4], result[2];

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		unsigned long long seed = 2000 + i;
		int power = functions[i].of == NAMED(cpow);

		for (j = 0; j < EDGES * EDGES + RANDOM; j++) {
			int random = j >= EDGES * EDGES;

			x[0] = random ? NAMED(random)(&seed) : NAMED(edges)[j / EDGES];
			x[1] = random ? NAMED(random)(&seed) : NAMED(edges)[j % EDGES];
			x[2] = NAMED(random)(&seed);
			x[3] = NAMED(random)(&seed);
			/*
			 * A power is a product, a logarithm and an exponential: the error
			 * grows with its exponent.
			 */
			if (power && (!random || fabsl(x[0]) + fabsl(x[1]) > 8 || fabsl(x[2]) + fabsl(x[3]) > 8))
				continue;
			functions[i].of(x, result);
			two(&functions[i].about, x[0], x[1], result[0], result[1]);
		}
	}
}

#undef CLOSE_ALL
#undef RIGHT
#undef T
#undef F
#undef NAMED
#undef T_MAX
#undef T_MIN
#undef T_TINY
#undef T_EPSILON
#undef T_NAME
