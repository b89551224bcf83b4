/*
 * Each SAY makes a line that must be the same on the host: the host prints it, the task compares it
 * with what the host printed. A program defines WHAT, its name in the last line that it prints;
 * LINES_FILE, the file with the host's lines; and calls(), which makes the lines.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#ifndef NATIVE
#include <rtl_printf.h>
#include <pillion.h>
#endif

static void calls(void);
static void say(const char *text);
#define SAY(...)                                                   \
	do {                                                       \
		char line[700];                                    \
		snprintf(line, sizeof(line), __VA_ARGS__);         \
		say(line);                                         \
	} while (0)

/* Random arguments have too many results for a line each: a digest stands for several. */
static unsigned long long digest;

static void mix(unsigned long long value)
{
	digest = (digest ^ value) * 0x9e3779b97f4a7c15ULL;
	digest ^= digest >> 29;
}

static void mix_bytes(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	while (size--)
		mix(*at++);
}

static void say_digest(const char *of, unsigned int turn)
{
	SAY("%s, random arguments up to %u: %016llx", of, turn, digest);
	digest = 0;
}

static unsigned long long draw(unsigned long long *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 24;
}

static int __attribute__((unused)) sign(int value)
{
	return (value > 0) - (value < 0);
}

/* An index into an array, or -1 if nothing was found. */
#define AT(found, array) ((found) ? (long)((found) - (array)) : -1L)

/* The bits of a number: %a of some numbers is the library's choice. */
static const char *__attribute__((unused)) bits(long double value, char *text)
{
	union { long double value; struct { unsigned long long mantissa; unsigned short exponent; } bits; } is;

	is.value = value;
	if (value != value)
		return "none";
	snprintf(text, 40, "%x:%llx", is.bits.exponent, is.bits.mantissa);
	return text;
}
#define BITS(value) bits(value, (char[40]){ 0 })

#ifdef NATIVE
static void say(const char *text)
{
	putchar('"');
	for (; *text; text++)
		if (*text < ' ' || *text == '"' || *text == '\\' || *text == '?')
			printf("\\%03o", (unsigned char)*text);
		else
			putchar(*text);
	puts("\",");
}

int main(void)
{
	calls();
	return 0;
}
#else
static const char *const expected[] = {
#include LINES_FILE
};
enum { LINES = sizeof(expected) / sizeof(expected[0]), SHOWN = 40 };

static unsigned int lines, differ;

static void say(const char *text)
{
	const char *right = lines < LINES ? expected[lines] : "(nothing)", *at = text;

	lines++;
	while (*at && *at == *right)
		at++, right++;
	if (*at == *right)
		return;
	if (differ++ < SHOWN)
		rtl_printf("- %.200s\n+ %.200s\n", lines <= LINES ? expected[lines - 1] : "(nothing)", text);
}

int init_module(void)
{
	calls();
	if (lines != LINES)
		rtl_printf("the host said another number of lines\n");
	rtl_printf(WHAT ": %u lines, %u differ\n", lines, differ);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
#endif
