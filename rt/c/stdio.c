/* Streams. All output goes to the task's log. */
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "print.h"

struct _IO_FILE {
	int readable;
};

static struct _IO_FILE input = { 1 }, output;

#undef stdin
#undef stdout
#undef stderr
FILE *const stdin = &input;
FILE *const stdout = &output;
FILE *const stderr = &output;

int vprintf(const char *__restrict format, va_list arguments)
{
	return pillion_vprint(format, arguments);
}

int printf(const char *__restrict format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = pillion_vprint(format, arguments);
	va_end(arguments);
	return length;
}

int vfprintf(FILE *__restrict stream, const char *__restrict format, va_list arguments)
{
	return stream->readable ? EOF : pillion_vprint(format, arguments);
}

int fprintf(FILE *__restrict stream, const char *__restrict format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vfprintf(stream, format, arguments);
	va_end(arguments);
	return length;
}

size_t fwrite(const void *__restrict data, size_t size, size_t count, FILE *__restrict stream)
{
	if (stream->readable || size == 0)
		return 0;
	pillion_print(data, size * count);
	return count;
}

int fputs(const char *__restrict text, FILE *__restrict stream)
{
	if (stream->readable)
		return EOF;
	pillion_print(text, strlen(text));
	return 0;
}

int fputc(int c, FILE *stream)
{
	char byte = (char)c;

	return fwrite(&byte, 1, 1, stream) == 1 ? (unsigned char)c : EOF;
}

int putchar(int c)
{
	return fputc(c, &output);
}

int puts(const char *text)
{
	return printf("%s\n", text);
}

int fflush(FILE *stream)
{
	(void)stream;
	return 0;
}

int getchar(void)
{
	return EOF;
}

void perror(const char *text)
{
	const char *name = strerror(errno);

	if (text && *text)
		printf("%s: %s\n", text, name);
	else
		printf("%s\n", name);
}
