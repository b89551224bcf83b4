/* Formatting, and output to the task's log. There are no files; what is not declared is absent. */
#ifndef PILLION_STDIO_H
#define PILLION_STDIO_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define __NEED_FILE
#include <bits/alltypes.h>

#define EOF (-1)
#ifndef SEEK_SET
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#endif

/* All three are the log; reading from it finds the end of the file. */
extern FILE *const stdin;
extern FILE *const stdout;
extern FILE *const stderr;
#define stdin stdin
#define stdout stdout
#define stderr stderr

int printf(const char *__restrict, ...) __attribute__((format(printf, 1, 2)));
int vprintf(const char *__restrict, va_list) __attribute__((format(printf, 1, 0)));
int sprintf(char *__restrict, const char *__restrict, ...) __attribute__((format(printf, 2, 3)));
int snprintf(char *__restrict, size_t, const char *__restrict, ...) __attribute__((format(printf, 3, 4)));
int vsprintf(char *__restrict, const char *__restrict, va_list) __attribute__((format(printf, 2, 0)));
int vsnprintf(char *__restrict, size_t, const char *__restrict, va_list) __attribute__((format(printf, 3, 0)));
int asprintf(char **, const char *__restrict, ...) __attribute__((format(printf, 2, 3)));
int vasprintf(char **, const char *__restrict, va_list) __attribute__((format(printf, 2, 0)));
int sscanf(const char *__restrict, const char *__restrict, ...) __attribute__((format(scanf, 2, 3)));
int vsscanf(const char *__restrict, const char *__restrict, va_list) __attribute__((format(scanf, 2, 0)));
int puts(const char *);
int putchar(int);
void perror(const char *);

/* These have other symbols: the C library uses its own functions of these names on its streams. */
int fprintf(FILE *__restrict, const char *__restrict, ...) __asm__("pillion_fprintf") __attribute__((format(printf, 2, 3)));
int vfprintf(FILE *__restrict, const char *__restrict, va_list) __asm__("pillion_vfprintf") __attribute__((format(printf, 2, 0)));
int fputs(const char *__restrict, FILE *__restrict) __asm__("pillion_fputs");
int fputc(int, FILE *) __asm__("pillion_fputc");
int putc(int, FILE *) __asm__("pillion_fputc");
size_t fwrite(const void *__restrict, size_t, size_t, FILE *__restrict) __asm__("pillion_fwrite");
int fflush(FILE *) __asm__("pillion_fflush");
int getchar(void) __asm__("pillion_getchar");

#ifdef __cplusplus
}
#endif

#endif
