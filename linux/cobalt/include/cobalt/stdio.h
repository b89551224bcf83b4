/* SPDX-License-Identifier: GPL-2.0-only */
/* Output: that of a thread in primary mode is written out by a thread of Linux, a moment later. */
#pragma GCC system_header
#include_next <stdio.h>

#ifndef _COBALT_STDIO_H
#define _COBALT_STDIO_H

#include <cobalt/wrappers.h>
#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The C library may have macros of these names. */
#undef putchar
#undef putc
#undef fputc

COBALT_DECL(int, vfprintf(FILE *stream, const char *format, va_list arguments));
COBALT_DECL(int, vprintf(const char *format, va_list arguments));
COBALT_DECL(int, fprintf(FILE *stream, const char *format, ...));
COBALT_DECL(int, printf(const char *format, ...));
COBALT_DECL(int, puts(const char *text));
COBALT_DECL(int, fputs(const char *text, FILE *stream));
COBALT_DECL(int, fputc(int character, FILE *stream));
COBALT_DECL(int, putc(int character, FILE *stream));
COBALT_DECL(int, putchar(int character));
COBALT_DECL(size_t, fwrite(const void *data, size_t size, size_t count, FILE *stream));
COBALT_DECL(int, fclose(FILE *stream));
COBALT_DECL(int, __vfprintf_chk(FILE *stream, int level, const char *format, va_list arguments));
COBALT_DECL(int, __vprintf_chk(int level, const char *format, va_list arguments));
COBALT_DECL(int, __fprintf_chk(FILE *stream, int level, const char *format, ...));
COBALT_DECL(int, __printf_chk(int level, const char *format, ...));

int rt_vfprintf(FILE *stream, const char *format, va_list arguments);
int rt_vprintf(const char *format, va_list arguments);
int rt_fprintf(FILE *stream, const char *format, ...);
int rt_printf(const char *format, ...);
int rt_puts(const char *text);
int rt_fputs(const char *text, FILE *stream);
int rt_fputc(int character, FILE *stream);
int rt_putchar(int character);
size_t rt_fwrite(const void *data, size_t size, size_t count, FILE *stream);
void rt_syslog(int priority, const char *format, ...);
void rt_vsyslog(int priority, const char *format, va_list arguments);
/* Nothing has to be prepared; the name of a thread's buffer is kept. */
int rt_print_init(size_t size, const char *name);
void rt_print_cleanup(void);
void rt_print_auto_init(int enable);
const char *rt_print_buffer_name(void);
void rt_print_flush_buffers(void);

#ifdef __cplusplus
}
#endif

#endif
