// SPDX-License-Identifier: GPL-2.0-only
/* Output: that of a thread in primary mode goes into the ring, all other to Linux, after that. */
#include "primary/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "internal.h"

/* Whether the calling thread is in Linux; then nothing is in the ring. */
static bool is_in_linux(void)
{
	if (primary_is_now())
		return false;
	primary_print_flush();
	return true;
}

int rt_vfprintf(FILE *stream, const char *format, va_list arguments)
{
	return primary_say(stream, 0, format, arguments);
}

int rt_vprintf(const char *format, va_list arguments)
{
	return primary_say(stdout, 0, format, arguments);
}

int rt_fprintf(FILE *stream, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = primary_say(stream, 0, format, arguments);
	va_end(arguments);
	return size;
}

int rt_printf(const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = primary_say(stdout, 0, format, arguments);
	va_end(arguments);
	return size;
}

int rt_puts(const char *text)
{
	return rt_printf("%s\n", text);
}

int rt_fputs(const char *text, FILE *stream)
{
	return primary_say_text(stream, 0, text, strlen(text));
}

int rt_fputc(int character, FILE *stream)
{
	char text = character;

	primary_say_text(stream, 0, &text, 1);
	return (unsigned char)character;
}

int rt_putchar(int character)
{
	return rt_fputc(character, stdout);
}

size_t rt_fwrite(const void *data, size_t size, size_t count, FILE *stream)
{
	primary_say_text(stream, 0, data, size * count);
	return size ? count : 0;
}

void rt_vsyslog(int priority, const char *format, va_list arguments)
{
	primary_say(PRIMARY_LOG, priority, format, arguments);
}

void rt_syslog(int priority, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	rt_vsyslog(priority, format, arguments);
	va_end(arguments);
}

WRAP(int, vfprintf, FILE *stream, const char *format, va_list arguments)
{
	return is_in_linux() ? __real_vfprintf(stream, format, arguments) : rt_vfprintf(stream, format, arguments);
}

WRAP(int, vprintf, const char *format, va_list arguments)
{
	return __cobalt_vfprintf(stdout, format, arguments);
}

WRAP(int, fprintf, FILE *stream, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = __cobalt_vfprintf(stream, format, arguments);
	va_end(arguments);
	return size;
}

WRAP(int, printf, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = __cobalt_vfprintf(stdout, format, arguments);
	va_end(arguments);
	return size;
}

/* With _FORTIFY_SOURCE; in primary mode, the level makes no difference. */
WRAP(int, __vfprintf_chk, FILE *stream, int level, const char *format, va_list arguments)
{
	if (is_in_linux())
		return __real___vfprintf_chk(stream, level, format, arguments);
	return rt_vfprintf(stream, format, arguments);
}

WRAP(int, __vprintf_chk, int level, const char *format, va_list arguments)
{
	return __cobalt___vfprintf_chk(stdout, level, format, arguments);
}

WRAP(int, __fprintf_chk, FILE *stream, int level, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = __cobalt___vfprintf_chk(stream, level, format, arguments);
	va_end(arguments);
	return size;
}

WRAP(int, __printf_chk, int level, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = __cobalt___vfprintf_chk(stdout, level, format, arguments);
	va_end(arguments);
	return size;
}

WRAP(int, puts, const char *text)
{
	return is_in_linux() ? __real_puts(text) : rt_puts(text);
}

WRAP(int, fputs, const char *text, FILE *stream)
{
	return is_in_linux() ? __real_fputs(text, stream) : rt_fputs(text, stream);
}

#undef fputc
#undef putc
#undef putchar

WRAP(int, fputc, int character, FILE *stream)
{
	return is_in_linux() ? __real_fputc(character, stream) : rt_fputc(character, stream);
}

/* The C library's header makes this of `putchar`, too. */
WRAP(int, putc, int character, FILE *stream)
{
	return __cobalt_fputc(character, stream);
}

WRAP(int, putchar, int character)
{
	return __cobalt_fputc(character, stdout);
}

WRAP(size_t, fwrite, const void *data, size_t size, size_t count, FILE *stream)
{
	return is_in_linux() ? __real_fwrite(data, size, count, stream) : rt_fwrite(data, size, count, stream);
}

WRAP(int, fclose, FILE *stream)
{
	primary_print_flush();
	return __real_fclose(stream);
}

WRAP(void, vsyslog, int priority, const char *format, va_list arguments)
{
	if (is_in_linux())
		__real_vsyslog(priority, format, arguments);
	else
		rt_vsyslog(priority, format, arguments);
}

WRAP(void, syslog, int priority, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	__cobalt_vsyslog(priority, format, arguments);
	va_end(arguments);
}

WRAP(void, __vsyslog_chk, int priority, int level, const char *format, va_list arguments)
{
	(void)level;
	__cobalt_vsyslog(priority, format, arguments);
}

WRAP(void, __syslog_chk, int priority, int level, const char *format, ...)
{
	va_list arguments;

	(void)level;
	va_start(arguments, format);
	__cobalt_vsyslog(priority, format, arguments);
	va_end(arguments);
}

static __thread char buffer_name[32];

int rt_print_init(size_t size, const char *name)
{
	(void)size;
	if (name)
		snprintf(buffer_name, sizeof(buffer_name), "%s", name);
	return -cobalt_told(-primary_print_begin());
}

void rt_print_cleanup(void)
{
}

void rt_print_auto_init(int enable)
{
	(void)enable;
	primary_print_begin();
}

const char *rt_print_buffer_name(void)
{
	return buffer_name;
}

void rt_print_flush_buffers(void)
{
	primary_print_flush();
}
