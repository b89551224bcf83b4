/*
 * Wide and multibyte characters: the C library returns what the host's does, in the locale "C".
 * Classes and cases are compared up to U+00FF; beyond that each C library has the tables of some
 * version of Unicode.
 *
 * native: -lm
 * prints: wide characters: 4032 lines, 0 differ
 * task: memory_kib = 1024
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>
#include <wctype.h>

#define WHAT "wide characters"
#define LINES_FILE "c-wide.native"
#include "native/lines.h"
#include "native/numbers.h"

#ifdef NATIVE
#include <locale.h>
/* glibc lacks the older name. */
#define wcswcs wcsstr
#else
/* The standard's older name, which the headers do not declare. */
wchar_t *wcswcs(const wchar_t *text, const wchar_t *part);
#endif

static const wchar_t *draw_text(wchar_t *text, unsigned int most, unsigned long long *seed)
{
	static const wchar_t some[] = { 'a', 'A', 'b', 'B', ',', ';', '0', 0x7f, 0x80, 0xe4, 0x3b1, 0x4e2d, 0x1f600, 0x10ffff };
	unsigned int length = draw(seed) % most, i;

	for (i = 0; i < length; i++)
		text[i] = some[draw(seed) % (most > 10 ? 14 : 7)];
	text[i] = 0;
	return text;
}

static void mix_wide(const wchar_t *text, size_t count)
{
	mix_bytes(text, count * sizeof(*text));
}

static void fill(wchar_t *text, size_t count)
{
	while (count--)
		*text++ = '#';
}

static void random_strings(void)
{
	wchar_t a[60], b[60], text[200], *rest, *part;
	unsigned long long seed = 2;
	unsigned int turn, n, i, ascii;

	for (turn = 1; turn <= 2000; turn++) {
		draw_text(a, turn % 2 ? 50 : 9, &seed);
		draw_text(b, turn % 3 ? 4 : 50, &seed);
		if (turn % 5 == 0)
			wmemcpy(b, a, 1 + draw(&seed) % 20), b[20] = 0;
		n = draw(&seed) % 30;
		for (ascii = 1, i = 0; a[i]; i++)
			ascii &= a[i] < 0x80;
		for (i = 0; b[i]; i++)
			ascii &= b[i] < 0x80;

		mix(wcslen(a)), mix(wcsnlen(a, n)), mix(wcsspn(a, b)), mix(wcscspn(a, b));
		mix(sign(wcscmp(a, b))), mix(sign(wcsncmp(a, b, n))), mix(sign(wcscoll(a, b)));
		mix(AT(wcschr(a, b[0]), a)), mix(AT(wcsrchr(a, b[0]), a)), mix(AT(wcspbrk(a, b), a)), mix(AT(wcsstr(a, b), a)), mix(AT(wcswcs(a, b), a));
		/* Cases of the other characters depend on the tables. */
		mix(ascii ? sign(wcscasecmp(a, b)) : 0), mix(ascii ? sign(wcsncasecmp(a, b, n)) : 0);

		fill(text, 200);
		mix(AT(wcscpy(text, a), text)), mix(AT(wcscat(text, b), text)), mix(AT(wcsncat(text, b, n), text));
		mix(AT(wcsncpy(text + 160, b, n), text)), mix_wide(text, 200);
		mix(AT(wcpcpy(text, b), text)), mix(AT(wcpncpy(text + 100, a, n), text)), mix(wcsxfrm(text + 149, b, 51)), mix_wide(text, 200);
		mix(AT(wmemcpy(text, a, n), text)), mix(AT(wmemmove(text + n / 2, text, n), text)), mix(AT(wmemset(text + 100, b[0], n), text)), mix_wide(text, 200);
		mix(AT(wmemchr(text, b[0], 100), text)), mix(sign(wmemcmp(text, text + n, n)));

		wcscpy(text, a);
		for (part = wcstok(text, b, &rest); part; part = wcstok(NULL, b, &rest))
			mix(AT(part, text)), mix(wcslen(part));
		part = wcsdup(a);
		mix_wide(part, wcslen(a) + 1);
		free(part);
		if (turn % 50 == 0)
			say_digest("wide strings", turn);
	}
}

static void edges_of_strings(void)
{
	static const wchar_t *const words[] = { L"", L"a", L"ab", L"abcabcabd", L"ABC", L"\x7fffffff", L"\x80000000", L"the quick brown fox", L"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy" };
	enum { WORDS = sizeof(words) / sizeof(words[0]) };
	unsigned int i, j;

	for (i = 0; i < WORDS; i++)
		for (j = 0; j < WORDS; j++) {
			const wchar_t *a = words[i], *b = words[j];

			SAY("%u %u: %d %d %d %d %ld %ld %ld %zu %zu", i, j, sign(wcscmp(a, b)), sign(wcsncmp(a, b, 1)), sign(wmemcmp(a, b, 1)), sign(wcscasecmp(a, b)), AT(wcsstr(a, b), a),
			    AT(wcspbrk(a, b), a), AT(wcschr(a, b[0]), a), wcsspn(a, b), wcscspn(a, b));
		}
}

static void classes(void)
{
	static const char *const names[] = { "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit", "", "alphabet" };
	static const char *const cases[] = { "tolower", "toupper", "", "tomiddle" };
	unsigned int c, i;

#ifdef NATIVE
	/* musl has one table for all locales. */
	setlocale(LC_CTYPE, "C.UTF-8");
#endif
	for (c = 0; c <= 0x100; c++) {
		wint_t w = c == 0x100 ? WEOF : c;
		unsigned int bits = 0;

		/* A control character, and letters without another case. */
		if (c == 0x85 || c == 0xaa || c == 0xba || c == 0xdf)
			continue;
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			bits |= !!iswctype(w, wctype(names[i])) << i;
		SAY("%x: %d%d%d%d%d%d%d%d%d%d%d%d %x %x %x", w, !!(iswalnum)(w), !!(iswalpha)(w), !!(iswblank)(w), !!(iswcntrl)(w), !!(iswdigit)(w), !!(iswgraph)(w), !!(iswlower)(w),
		    !!(iswprint)(w), !!(iswpunct)(w), !!(iswspace)(w), !!(iswupper)(w), !!(iswxdigit)(w), bits, towlower(w), towupper(w));
		if (w != WEOF)
			SAY("%x: %d %d", w, wcwidth((wchar_t)w), wcswidth((wchar_t[]){ 'a', (wchar_t)w, 'b' }, 3));
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			SAY("%x %s: %x", w, cases[i], wctrans(cases[i]) ? towctrans(w, wctrans(cases[i])) : 0);
	}
	SAY("%d %d", wcswidth(L"", 5), wcswidth(L"four", 2));
#ifdef NATIVE
	setlocale(LC_CTYPE, "C");
#endif
}

static void numbers_from_text(void)
{
	static const int bases[] = { 0, 2, 8, 10, 16, 36 };
	wchar_t text[400], *ends[9];
	unsigned int i, j, n;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		for (n = 0; (text[n] = numbers[i][n]) != 0; n++)
			;
		for (j = 0; j < sizeof(bases) / sizeof(bases[0]); j++) {
			long l;
			unsigned long u;
			int errors = 0;

			errno = 0, l = wcstol(text, &ends[0], bases[j]), errors |= (errno == ERANGE) << 0;
			errno = 0, u = wcstoul(text, &ends[1], bases[j]), errors |= (errno == ERANGE) << 1;
			SAY("%.20s %d: %ld %lu %d %ld %ld", numbers[i], bases[j], l, u, errors, AT(ends[0], text), AT(ends[1], text));
			SAY("%lld %llu %jd %ju", wcstoll(text, &ends[2], bases[j]), wcstoull(text, &ends[3], bases[j]), wcstoimax(text, &ends[4], bases[j]), wcstoumax(text, &ends[5], bases[j]));
			SAY("%ld %ld %ld %ld", AT(ends[2], text), AT(ends[3], text), AT(ends[4], text), AT(ends[5], text));
		}
		SAY("%.20s: %s %s %s", numbers[i], BITS(wcstod(text, &ends[6])), BITS(wcstof(text, &ends[7])), BITS(wcstold(text, &ends[8])));
		SAY("%ld %ld %ld", AT(ends[6], text), AT(ends[7], text), AT(ends[8], text));
	}
}

static void characters_as_bytes(void)
{
	char bytes[16];
	mbstate_t state;
	wchar_t wide;
	char16_t half;
	char32_t whole;
	int c;

	/* The meaning of other bytes in this locale is the library's choice. */
	for (c = -1; c < 0x80; c++)
		SAY("%d: %x %d", c, btowc(c), wctob(c < 0 ? WEOF : (wint_t)c));
	for (c = 0; c < 0x80; c++) {
		char text[2] = { (char)c, 'z' };
		size_t n;

		memset(&state, 0, sizeof(state));
		wide = 7, half = 7, whole = 7;
		n = mbrtowc(&wide, text, 2, &state);
		SAY("%d: %d %d %d %zu %d", c, (int)n, (int)wide, mblen(text, 2), mbrlen(text, 2, &state), !!mbsinit(&state));
		n = mbrtoc16(&half, text, 2, &state);
		SAY("%d: %d %d %d %d", c, (int)n, half, (int)mbrtoc32(&whole, text, 2, &state), (int)whole);
		memset(bytes, '#', sizeof(bytes));
		SAY("%d %d %d %d %d", (int)wcrtomb(bytes, c, &state), wctomb(bytes + 4, c), (int)c16rtomb(bytes + 8, c, &state), (int)c32rtomb(bytes + 12, c, &state), mbtowc(&wide, text, 1));
		digest = 0;
		mix_bytes(bytes, sizeof(bytes));
		SAY("%d: %016llx %d", c, digest, (int)wide);
	}
	SAY("%d %d %d %d %d", mblen(NULL, 0), mbtowc(NULL, NULL, 0), wctomb(NULL, 0), (int)mbrlen("", 1, &state), (int)MB_CUR_MAX);
	SAY("%d %d %d", (int)mbrtowc(&wide, "a", 0, &state), (int)mbrtowc(NULL, NULL, 0, &state), (int)wcrtomb(NULL, 'a', &state));
	/* Characters without a byte in the locale "C". */
	for (wide = 0x100; wide > 0; wide *= 4) {
		errno = 0;
		SAY("%x: %d %d", (unsigned int)wide, (int)wcrtomb(bytes, wide, &state), errno == EILSEQ);
		SAY("%d %d %d", wctomb(bytes, wide), (int)c32rtomb(bytes, (char32_t)wide, &state), wctob((wint_t)wide));
	}
}

static void random_conversions(void)
{
	unsigned long long seed = 6;
	unsigned int turn, i, length, limit, room;
	char bytes[60], back[60];
	wchar_t wide[60];

	for (turn = 1; turn <= 1000; turn++) {
		const char *from = bytes;
		const wchar_t *wide_from = wide;
		mbstate_t state;

		length = draw(&seed) % 40, limit = draw(&seed) % 45, room = draw(&seed) % 45;
		for (i = 0; i < length; i++)
			bytes[i] = (char)(1 + draw(&seed) % 127);
		bytes[length] = 0;
		memset(&state, 0, sizeof(state));
		fill(wide, 60);
		memset(back, '#', sizeof(back));
		mix(mbstowcs(NULL, bytes, 0)), mix(mbstowcs(wide, bytes, room)), mix_wide(wide, 60);
		mix(mbsrtowcs(wide, &from, room, &state)), mix(AT(from, bytes)), mix_wide(wide, 60);
		from = bytes;
		mix(mbsnrtowcs(wide, &from, limit, room, &state)), mix(AT(from, bytes)), mix_wide(wide, 60);
		mbstowcs(wide, bytes, 60);
		/* A character without a byte. */
		if (turn % 4 == 0 && length)
			wide[draw(&seed) % length] = 0x4e2d;
		mix(wcstombs(NULL, wide, 0)), mix(wcstombs(back, wide, room)), mix_bytes(back, 60);
		mix(wcsrtombs(back, &wide_from, room, &state)), mix(AT(wide_from, wide)), mix_bytes(back, 60);
		if (turn % 25 == 0)
			say_digest("conversions", turn);
	}
}

static int by_list(wchar_t *text, size_t size, const wchar_t *format, ...)
{
	va_list list;
	int length;

	va_start(list, format);
	length = vswprintf(text, size, format, list);
	va_end(list);
	return length;
}

static int scan_by_list(const wchar_t *text, const wchar_t *format, ...)
{
	va_list list;
	int got;

	va_start(list, format);
	got = vswscanf(text, format, list);
	va_end(list);
	return got;
}

static void formats(void)
{
	static const wchar_t *const for_whole[] = { L"%d", L"%5d|", L"%-5d|", L"%05d", L"%+d", L"%.3d", L"%u", L"%#o", L"%x", L"%#X", L"%08X" };
	static const wchar_t *const for_double[] = { L"%f", L"%.0f", L"%e", L"%.15e", L"%g", L"%.17g", L"%+012.3f|", L"%-12.4e|" };
	static const wchar_t *const texts[] = { L"12 0x1f 077 abc", L"-5,6;7 rest", L"3.5e2 -0.25 1e-3", L"  word [set]xyz 99", L"", L"x", L"nan inf -inf" };
	static const double doubles[] = { 0, -0.0, 1, -1, 0.5, 2.5, 1e5, 1e6, 1234567, 0.0001, 9.9995, 1e22, 1e100, 1e-7, 0.1 };
	static const int wholes[] = { 0, 1, -1, 42, -2147483647 - 1, 2147483647 };
	unsigned long long seed = 7;
	wchar_t text[200];
	unsigned int i, j;
	int n;

	for (i = 0; i < sizeof(for_whole) / sizeof(for_whole[0]); i++)
		for (j = 0; j < 16; j++) {
			int value = j < 6 ? wholes[j] : (int)draw(&seed);

			n = swprintf(text, 200, for_whole[i], value);
			SAY("%ls %d %d", text, n, by_list(text, 200, for_whole[i], value));
		}
	for (i = 0; i < sizeof(for_double) / sizeof(for_double[0]); i++)
		for (j = 0; j < 30; j++) {
			double value = j < 15 ? doubles[j] : (double)(long long)(draw(&seed) - (1LL << 39)) / (double)(1ULL << draw(&seed) % 50);

			n = swprintf(text, 200, for_double[i], value);
			SAY("%ls %d %d", text, n, by_list(text, 200, for_double[i], value));
		}
	n = swprintf(text, 200, L"%ls|%10ls|%-6.2ls|%s|%c%lc|%%|%lld %zu", L"wide", L"wide", L"wide", "narrow", 'c', (wint_t)L'w', -5LL, (size_t)7);
	SAY("%ls %d", text, n);
	SAY("%d %d %d", swprintf(text, 4, L"%d", 1234) < 0, swprintf(text, 5, L"%d", 1234), by_list(text, 3, L"%ls", L"abcdef") < 0);
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int a = -1, b = -1, c = -1;
		float f = -1;
		double d = -1;
		long double l = -1;
		char word[40] = "-";
		wchar_t set[40] = L"-", one[4] = L"-";
		unsigned int u = 9, hex = 9;

		n = swscanf(texts[i], L"%d%i%i %3s%n", &a, &b, &c, word, &u);
		SAY("%d %d %d %d %s %u", n, a, b, c, word, u);
		n = scan_by_list(texts[i], L"%f%lf%Lf", &f, &d, &l);
		SAY("%d %s %s %s", n, BITS(f), BITS(d), BITS(l));
		n = swscanf(texts[i], L" %39s [%l[a-z]]%1lc%u", word, set, one, &u);
		SAY("%d %s %ls %.1ls %u", n, word, set, one, u);
		n = scan_by_list(texts[i], L"%x %*d %5l[^ ]", &hex, set);
		SAY("%d %x %ls", n, hex, set);
	}
}

static void calls(void)
{
	edges_of_strings();
	random_strings();
	classes();
	numbers_from_text();
	characters_as_bytes();
	random_conversions();
	formats();
}
