/*
 * The C library's functions, but for <math.h>, give what the host's give.
 *
 * native: -lm
 * prints: C library: 3398 lines, 0 differ
 * task: memory_kib = 1024
 */
#define _GNU_SOURCE 1
#include <complex.h>
#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#ifndef NATIVE
void swab(const void *from, void *to, ssize_t size);	/* not among the headers of old programs */
#endif

static volatile double zero;

/* Says a line: on the host it is printed, in the task compared with what the host printed. */
static void say(const char *text);
#define SAY(...)                                                   \
	do {                                                       \
		char line[700];                                    \
		snprintf(line, sizeof(line), __VA_ARGS__);         \
		say(line);                                         \
	} while (0)

static unsigned long long draw(unsigned long long *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 24;
}

#include "native/c-library-calls.h"

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
#include <rtl_printf.h>
#include <pillion.h>

static const char *const expected[] = {
#include "c-library.native"
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
		rtl_printf("- %.200s\n+ %.200s\n", lines <= LINES ? expected[lines - 1] : right, text);
}

int init_module(void)
{
	calls();
	if (lines != LINES)
		rtl_printf("the host said another number of lines\n");
	rtl_printf("C library: %u lines, %u differ\n", lines, differ);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
#endif
