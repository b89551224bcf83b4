/* Formatted output. Each call appends one piece to the log. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include <rtl_printf.h>

#include "print.h"

/*
 * The most that one call prints; the rest is cut off. The buffer is on the caller's stack, so that
 * no thread waits for another one's text.
 */
enum { PIECE = 1024 };

/*
 * Formats and prints. Returns what vsnprintf returns, which counts what was cut off. If vsnprintf
 * rejects the format, prints the format itself, so that no line is lost.
 */
int pillion_vprint(const char *format, va_list arguments)
{
	char text[PIECE];
	int length = vsnprintf(text, sizeof(text), format, arguments);

	if (length < 0)
		pillion_print(format, strlen(format));
	else if (length > 0)
		pillion_print(text, (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
	return length;
}

/* A format may begin with a level, such as "<6>"; the log has no levels. */
static const char *without_level(const char *format)
{
	int has_level = format[0] == '<' && format[1] >= '0' && format[1] <= '7' && format[2] == '>';

	return has_level ? format + 3 : format;
}

int rtl_vprintf(const char *format, va_list arguments)
{
	return pillion_vprint(without_level(format), arguments);
}

#define PRINTS(name)                                                             \
	int name(const char *format, ...)                                         \
	{                                                                         \
		va_list arguments;                                                \
		int length;                                                       \
                                                                                  \
		va_start(arguments, format);                                      \
		length = rtl_vprintf(format, arguments);                          \
		va_end(arguments);                                                \
		return length;                                                    \
	}

PRINTS(rtl_printf)
PRINTS(rtl_cprintf)
PRINTS(rtl_printk)
PRINTS(printk)

void conpr(const char *text)
{
	pillion_print(text, strlen(text));
}

void conprn(unsigned int number)
{
	rtl_printf("%x", number);
}

void panic(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	rtl_vprintf(format, arguments);
	va_end(arguments);
	pillion_stop();
}
