/*
 * What the C library gives tasks, but for mathematics (../math.c): strings and memory, characters, numbers from and to text, sorting, dates, random numbers, jumps, wide
 * characters, complex numbers. Each SAY is a line that must be the same on the host.
 */

static int sign(int value)
{
	return (value > 0) - (value < 0);
}

/* A number as its bits: what %a makes of some is left to the library. */
static const char *bits(long double value, char *text)
{
	union { long double value; struct { unsigned long long mantissa; unsigned short exponent; } bits; } is;

	is.value = value;
	if (value != value)
		return "none";
	snprintf(text, 40, "%x:%llx", is.bits.exponent, is.bits.mantissa);
	return text;
}
#define BITS(value) bits(value, (char[40]){ 0 })

static const char *const words[] = { "", "a", "ab", "abc", "abcabcabd", "Abc", "ABC def", "the quick brown fox jumps over the lazy dog, twice", "\xe4\xf6\xfc", "a,b;;c, d", "0123456789abcdef0123456789abcdef" };
#define WORDS (sizeof(words) / sizeof(words[0]))

static void strings(void)
{
	unsigned int i, j;
	char text[200], more[200], *rest, *token;

	for (i = 0; i < WORDS; i++)
		for (j = 0; j < WORDS; j++) {
			const char *a = words[i], *b = words[j], *found = strstr(a, b), *any = strpbrk(a, b), *nocase = *a ? strcasestr(a, b) : a;	/* musl finds nothing in nothing */

			SAY("%u %u: %d %d %d %d %d %zu %zu %td %td %td %d %d", i, j, sign(strcmp(a, b)), sign(strncmp(a, b, 3)), sign(strcasecmp(a, b)), sign(strncasecmp(a, b, 2)),
			    sign(strcoll(a, b)), strspn(a, b), strcspn(a, b), found ? found - a : -1, any ? any - a : -1, nocase ? nocase - a : -1, sign(strverscmp(a, b)),
			    sign(memcmp(a, b, strlen(a) < strlen(b) ? strlen(a) : strlen(b))));
			strcpy(text, a);
			strncat(text, b, 5);
			SAY("%s %s %td %zu", text, strcat(strcpy(more, b), a), stpcpy(text, b) - text, strxfrm(more, a, sizeof(more)));
		}
	for (i = 0; i < WORDS; i++) {
		const char *a = words[i];
		char *first = strchr(a, 'b'), *last = strrchr(a, 'b');

		memset(text, '#', sizeof(text));
		strncpy(text, a, 6);
		SAY("%zu %zu %td %td %td %.10s %td", strlen(a), strnlen(a, 4), first ? first - a : -1, last ? last - a : -1, strchrnul(a, 'c') - a, text,
		    (char *)memchr(a, 0, strlen(a) + 1) - a);
		memset(text, '#', sizeof(text));
		SAY("%td %td %.10s", stpncpy(text, a, 5) - text, (char *)memrchr(a, a[0], strlen(a) + 1) - a, text);
		strcpy(text, a);
		for (token = strtok_r(text, ",; ", &rest); token; token = strtok_r(NULL, ",; ", &rest))
			SAY("token %s", token);
		strcpy(text, a);
		for (token = strtok(text, "bc"); token; token = strtok(NULL, "bc"))
			SAY("token %s", token);
		strcpy(text, a);
		for (rest = text; (token = strsep(&rest, ",;")) != NULL;)
			SAY("part %s", token);
		token = strdup(a);
		rest = strndup(a, 3);
		SAY("%s %s %d", token, rest, memmem(a, strlen(a), "bc", 2) ? 1 : 0);
		free(token);
		free(rest);
	}
	SAY("%d %d %d", ffs(0x50), ffsl(1L << 40), ffsll(0));
}

static void memory(void)
{
	static unsigned char a[600], b[600];
	unsigned long long seed = 1;
	unsigned int i, turn, sum;

	for (turn = 0; turn < 300; turn++) {
		unsigned int from = draw(&seed) % 256, to = draw(&seed) % 256, size = draw(&seed) % 300;

		for (i = 0; i < sizeof(a); i++)
			a[i] = (unsigned char)draw(&seed);
		if (turn % 4 == 0)
			memmove(a + to, a + from, size);
		else if (turn % 4 == 1)
			memcpy(b + to, a + from, size);
		else if (turn % 4 == 2)
			memset(b + to, turn, size);
		else
			SAY("copied %td %td", (unsigned char *)memccpy(b + to, a + from, 7, size) - b > 0 ? 1L : 0L, (unsigned char *)mempcpy(b, a, size) - b);
		for (sum = i = 0; i < sizeof(a); i++)
			sum = sum * 31 + a[i] * 7 + b[i];
		SAY("memory %u %u %u: %08x %d", from, to, size, sum, sign(memcmp(a + from, b + to, size)));
	}
	swab(a, b, 32);
	bcopy(b, a + 8, 16);
	bzero(b, 4);
	SAY("%d %d", bcmp(a, b, 20) != 0, b[3]);
}

static void characters(void)
{
	int c;

	for (c = -1; c < 256; c++)
		SAY("%d: %d%d%d%d%d%d%d%d%d%d%d%d %d %d", c, !!isalnum(c), !!isalpha(c), !!isblank(c), !!iscntrl(c), !!isdigit(c), !!isgraph(c), !!islower(c), !!isprint(c), !!ispunct(c),
		    !!isspace(c), !!isupper(c), !!isxdigit(c), tolower(c), toupper(c));
}

static const char *const numbers[] = { "0", "-0", "1", " \t\n42rest", "+7", "-2147483649", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
	"18446744073709551615", "18446744073709551616", "-1", "0x1fz", "0x", "0xg", "077", "08", "zZ", "", "  ", "+-3", "1e5", "1.5", ".5", "5.", ".", "-.5e-3x", "1e", "1e+", "1e400", "-1e400",
	"1e-400", "4.9406564584124654e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072011e-308", "2.2250738585072014e-308", "1.7976931348623157e308",
	"1.7976931348623158e308", "1.7976931348623159e308", "inf", "-INFINITY", "infx", "nan", "0x1.8p3", "0x.8p-1074", "0x1p-1075", "0x1.fffffffffffff8p1023", "0x1.8", "9007199254740993",
	"9007199254740993.00000000000000000000000000000000000000000000000000000000001", "0.1", "123456789012345678901234567890", "3.4028236e38", "1.4e-45", "7e-46", "1.189731495357231765e4932",
	"1e4932", "1e4933", "3.6e-4951", "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880.5" };

static void to_numbers(void)
{
	static const int bases[] = { 0, 2, 8, 10, 16, 36 };
	unsigned int i, j;
	char *end;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const char *n = numbers[i];
		float f;
		double d;
		long double l;

		for (j = 0; j < sizeof(bases) / sizeof(bases[0]); j++) {
			long signed_one;
			unsigned long unsigned_one;
			int first;

			errno = 0;
			signed_one = strtol(n, &end, bases[j]);
			first = errno == ERANGE;
			errno = 0;
			unsigned_one = strtoull(n, NULL, bases[j]);
			SAY("%.20s %d: %ld %td %d %lu %d %lld %lu", n, bases[j], signed_one, end - n, first, unsigned_one, errno == ERANGE, strtoll(n, NULL, bases[j]), strtoul(n, NULL, bases[j]));
		}
		errno = 0;
		d = strtod(n, &end);
		f = strtof(n, NULL);
		l = strtold(n, NULL);
		SAY("%.20s: %s %td %s %s %s", n, BITS(d), end - n, BITS(f), BITS(l), BITS(atof(n)));
		if (strlen(n) < 12)
			SAY("%d %ld %lld", atoi(n), atol(n), atoll(n));
	}
	SAY("%d %ld %lld %d %ld", abs(-5), labs(-5L), llabs(-5LL), div(-7, 2).rem, ldiv(-7L, 2L).quot);
	SAY("%lld %lld %ld %s", (long long)imaxabs(-4), (long long)strtoimax("-77", NULL, 8), a64l("./0"), l64a(1234567));
}

static void formats(void)
{
	static const char *const for_whole[] = { "%d", "%5d|", "%-5d|", "%05d", "%+d", "% d", "%.3d", "%8.3d|", "%-+8.3d|", "%.0d", "%u", "%o", "%#o", "%x", "%#x", "%#X", "%08X", "%i", "%c" };
	static const char *const for_double[] = { "%f", "%.0f", "%#.0f", "%.1f", "%.10f", "%e", "%.0e", "%.15e", "%g", "%#g", "%.3g", "%.17g", "%G", "%a", "%.3a", "%A", "%+f", "% f", "%012.3f", "%-12.3f|",
		"%12.4e|", "%.40f", "%.60g" };
	static const double doubles[] = { 0, -0.0, 1, -1, 0.5, 1.5, 2.5, 0.125, 1e5, 1e6, 123456, 1234567, 0.0001, 0.00001, 9.995, 9.9995, 99999.95, 999999.5, 1e21, 1e22, 1e23, 1e100, DBL_MAX, DBL_MIN,
		4.9406564584124654e-324, 1.0 / 3, 2.0 / 3, 3.14159265358979, 1e-7, 0.1, 0.3, 5e-5, 1 - DBL_EPSILON / 2 };
	static const int wholes[] = { 0, 1, -1, 42, 65, -2147483647 - 1, 2147483647, 1000000 };
	unsigned long long seed = 5;
	unsigned int i, j;
	char text[600];
	int length;

	for (i = 0; i < sizeof(for_whole) / sizeof(for_whole[0]); i++)
		for (j = 0; j < sizeof(wholes) / sizeof(wholes[0]); j++) {
			length = snprintf(text, sizeof(text), for_whole[i], i + 1 == sizeof(for_whole) / sizeof(for_whole[0]) ? 33 + (wholes[j] & 63) : wholes[j]);
			SAY("%s %d", text, length);
		}
	for (i = 0; i < sizeof(for_double) / sizeof(for_double[0]); i++) {
		for (j = 0; j < sizeof(doubles) / sizeof(doubles[0]); j++) {
			/* glibc says 1.e+06 */
			if (!strcmp(for_double[i], "%#g") && doubles[j] == 999999.5)
				continue;
			if (strpbrk(for_double[i], "aA") && doubles[j] != 0 && fabs(doubles[j]) < DBL_MIN)
				continue;
			length = snprintf(text, sizeof(text), for_double[i], doubles[j]);
			SAY("%.300s %d", text, length);
		}
		for (j = 0; j < 10; j++) {
			union { unsigned long long bits; double value; } any;

			any.bits = draw(&seed);
			if (fabs(any.value) >= DBL_MIN && fabs(any.value) <= DBL_MAX)
				SAY(for_double[i], any.value);
		}
		SAY(for_double[i], 1 / zero);
	}
	SAY("%Lg %Lf %.20Lg %.5Le", 1.5L, -2.25L, 0.1L, LDBL_MAX);
	SAY("%hhd %hd %ld %lld %zd %td %jd", (char)-3, (short)-300, -3L, -3LL, (ssize_t)-3, (ptrdiff_t)-3, (intmax_t)-3);
	SAY("%hhu %hu %lx %llx %zx", (unsigned char)250, (unsigned short)65000, ~0UL, ~0ULL, (size_t)77);
	SAY("%s|%10s|%-10s|%.2s|%*s|%-*.*s|%%|%5c|", "abc", "abc", "abc", "abc", 6, "x", 5, 1, "yz", 'q');
	SAY("%2$s %1$d", 5, "second");
	SAY("%p %p", (void *)0x1234, (void *)0xffffffffUL);
	length = -1;
	SAY("abc%n", &length);
	SAY("%d %d %d", length, snprintf(text, 4, "%d", 123456), snprintf(NULL, 0, "%s", "count"));
	SAY("%ls %lc", L"wide", (wint_t)L'w');
}

/* Not here: "1e" and "0x", which are no numbers by the standard and for musl, and are for glibc. */
static void scans(void)
{
	static const char *const texts[] = { "12 0x1f 077 abc", "-5,6;7 rest", "3.5e2 -0.25 1e-3", "  word [set]xyz 99", "", "x", "123456789 7 8", "nan inf -inf" };
	unsigned int i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int a = -1, b = -1, c = -1, n = -1, got;
		float f = -1, g = -1;
		double d = -1;
		long double l = -1;
		char word[40] = "-", set[40] = "-", one[4] = "-";
		unsigned int u = 9, hex = 9;
		long long big = -1;
		short h = -1;

		got = sscanf(texts[i], "%d%i%i %3s%n", &a, &b, &c, word, &n);
		SAY("%d %d %d %d %s %d", got, a, b, c, word, n);
		got = sscanf(texts[i], "%d ,%hd;%lld%*s", &a, &h, &big);
		SAY("%d %d %d %lld", got, a, h, big);
		got = sscanf(texts[i], "%f%lf%Lf", &f, &d, &l);
		SAY("%d %s %s %s", got, BITS(f), BITS(d), BITS(l));
		got = sscanf(texts[i], " %s [%[a-z]]%2c%u", word, set, one, &u);
		SAY("%d %s %s %.2s %u", got, word, set, one, u);
		got = sscanf(texts[i], "%x %*d %5[^ ]", &hex, set);
		SAY("%d %x %s", got, hex, set);
		got = sscanf(texts[i], "%3f%1f", &f, &g);
		SAY("%d %s %s", got, BITS(f), BITS(g));
	}
}

static int by_value(const void *a, const void *b)
{
	int first = *(const int *)a, second = *(const int *)b;

	return (first > second) - (first < second);
}

static int backwards(const void *a, const void *b, void *count)
{
	++*(int *)count;
	return by_value(b, a);
}

static void sorting(void)
{
	static int array[500];
	unsigned long long seed = 3;
	unsigned int size, i;
	size_t count;

	for (size = 0; size < sizeof(array) / sizeof(array[0]); size += 1 + size / 3) {
		unsigned int sum = 0;
		int key, *found, compared = 0;

		for (i = 0; i < size; i++)
			array[i] = (int)(draw(&seed) % (size * 2));
		qsort(array, size, sizeof(int), by_value);
		for (i = 0; i < size; i++)
			sum = sum * 31 + (unsigned int)array[i];
		key = (int)size;
		found = bsearch(&key, array, size, sizeof(int), by_value);
		SAY("sorted %u: %08x, found %d", size, sum, found ? *found : -1);
		qsort_r(array, size, sizeof(int), backwards, &compared);
		SAY("%d %d", size ? array[0] : 0, size < 2 || compared > 0);
		count = size;
		key = size ? array[size / 2] : 0;
		found = lfind(&key, array, &count, sizeof(int), by_value);
		SAY("%d %zu", found ? *found : -1, count);
	}
}

static void dates(void)
{
	static const long long times[] = { 0, 1, -1, 951782400, 951868800, 1078012800, 1709164800, 2147483647, 2147483648LL, -2147483649LL, 4102444799LL, 253402300799LL, -62135596800LL, 86399, 86400 };
	unsigned int i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		time_t at = (time_t)times[i];
		struct tm tm, again;
		char text[40];

		memset(&tm, 0, sizeof(tm));
		gmtime_r(&at, &tm);
		again = tm;
		again.tm_mon += 14;
		again.tm_mday -= 40;
		again.tm_sec += 100000;
		SAY("%d-%d-%d %d:%d:%d %d %d %lld", tm.tm_year, tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, tm.tm_wday, tm.tm_yday, (long long)timegm(&tm));
		SAY("%lld %s %a", (long long)timegm(&again), asctime_r(gmtime(&at), text), difftime(at, 5));
	}
}

static void jumps(void)
{
	jmp_buf place;
	volatile int turn = 0;
	volatile double kept = 2.5;
	int came = setjmp(place);

	SAY("%d %d %g", came, turn, kept);
	kept *= 2;
	if (turn++ < 3)
		longjmp(place, turn == 2 ? 0 : turn);
}

static void random_numbers(void)
{
	unsigned short own[3] = { 1, 2, 3 };
	int i;

	srand48(77);
	for (i = 0; i < 20; i++)
		SAY("%.17g %ld %ld %.17g %ld %ld", drand48(), lrand48(), mrand48(), erand48(own), nrand48(own), jrand48(own));
	srand(5);
	i = rand();
	srand(5);
	SAY("%d %d", i == rand(), rand() >= 0);
}

static void wide_characters(void)
{
	wchar_t text[40], *end;
	char bytes[40];
	mbstate_t state;

	memset(&state, 0, sizeof(state));
	SAY("%zu %d %d %zu", wcslen(L"twelve"), sign(wcscmp(L"a", L"b")), (int)MB_CUR_MAX > 0, mbstowcs(text, "ascii", 40));
	SAY("%d %d %zu %s", text[1] == L's', mbtowc(text, "q", 1), wcstombs(bytes, L"back", 40), bytes);
	SAY("%zu %zu %d %d", mbrtowc(text, "x", 1, &state), wcrtomb(bytes, L'y', &state), wctob(L'z'), btowc('k') == L'k');
	SAY("%d %d %d %d", !!iswalpha(L'a'), !!iswdigit(L'7'), towupper(L'b') == L'B', !!iswctype(L' ', wctype("space")));
	SAY("%ld %a %td", wcstol(L"-12x", &end, 10), wcstod(L"2.5", NULL), wcschr(L"find", L'n') - wcschr(L"find", L'f') > 0 ? (ptrdiff_t)1 : 0);
	swprintf(text, 40, L"%d %ls", 5, L"w");
	SAY("%ls %d", text, wmemcmp(text, L"5 w", 3));
}

/* To eleven digits: the standard asks for no accuracy. */
#define COMPLEX(f, z) ({ double _Complex v = f(z); SAY(#f " %.11g %.11g", creal(v) + 0.0, cimag(v) + 0.0); })
static void complex_numbers(void)
{
	unsigned long long seed = 9;
	int i;

	for (i = 0; i < 40; i++) {
		double a = (double)(draw(&seed) % 4001) / 1000 - 2 + 1e-4, b = (double)(draw(&seed) % 4001) / 1000 - 2 + 1e-4;
		volatile double _Complex z = a + b * I, w = b - a * I, inverse = 1 / z, product = z * w;
		volatile float _Complex narrow = (float _Complex)z;
		volatile long double _Complex wide = z;

		SAY("%.12g %.12g %.12g %.12g", creal(product), cimag(product), creal(inverse), cimag(inverse));
		SAY("%.12g %.12g %.5g %.5g %.15Lg %.15Lg", cabs(z), carg(z), (double)cabsf(narrow), (double)cargf(narrow), cabsl(wide), cargl(wide));
		COMPLEX(cexp, z); COMPLEX(clog, z); COMPLEX(csqrt, z); COMPLEX(csin, z); COMPLEX(ccos, z); COMPLEX(ctan, z); COMPLEX(csinh, z); COMPLEX(ccosh, z); COMPLEX(ctanh, z);
		COMPLEX(casin, z); COMPLEX(cacos, z); COMPLEX(catan, z); COMPLEX(casinh, z); COMPLEX(cacosh, z); COMPLEX(catanh, z); COMPLEX(conj, z); COMPLEX(cproj, z);
		SAY("%.10g %.10g", creal(cpow(z, w)), cimag(cpow(z, w)));
		SAY("%.4g %.13Lg", (double)crealf(cexpf(narrow)), creall(csinl(wide)));
	}
}

static void floating_point_environment(void)
{
	fenv_t all;
	fexcept_t flags;
	volatile double one = 1, result;
	int held, left;

	feclearexcept(FE_ALL_EXCEPT);
	result = one / zero;
	SAY("%a %d %d", result, !!fetestexcept(FE_DIVBYZERO), !!fetestexcept(FE_INVALID));
	held = feholdexcept(&all);
	left = fetestexcept(FE_ALL_EXCEPT);
	feraiseexcept(FE_OVERFLOW);
	feupdateenv(&all);
	SAY("%d %d %d %d", held, left, !!fetestexcept(FE_OVERFLOW), !!fetestexcept(FE_DIVBYZERO));
	fegetexceptflag(&flags, FE_OVERFLOW);
	feclearexcept(FE_ALL_EXCEPT);
	fesetexceptflag(&flags, FE_OVERFLOW);
	SAY("%d %d", !!fetestexcept(FE_OVERFLOW), !!fetestexcept(FE_DIVBYZERO));
	fegetenv(&all);
	fesetround(FE_UPWARD);
	result = one / 3;
	fesetenv(&all);
	SAY("%a %a %d", result, one / 3, fegetround() == FE_TONEAREST);
	fesetenv(FE_DFL_ENV);
	SAY("%d", fetestexcept(FE_ALL_EXCEPT));
}

static void calls(void)
{
	strings();
	memory();
	characters();
	to_numbers();
	formats();
	scans();
	sorting();
	dates();
	jumps();
	random_numbers();
	wide_characters();
	complex_numbers();
	floating_point_environment();
}
