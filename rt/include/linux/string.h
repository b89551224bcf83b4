/*
 * Strings and memory. Declares only what the kernel had of the C library, so that a program may
 * have variables with the names of the rest.
 */
#ifndef LINUX_STRING_H
#define LINUX_STRING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

char *strcpy(char *__restrict, const char *__restrict);
char *strncpy(char *__restrict, const char *__restrict, size_t);
char *strcat(char *__restrict, const char *__restrict);
char *strncat(char *__restrict, const char *__restrict, size_t);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
size_t strlen(const char *);
size_t strnlen(const char *, size_t);
size_t strspn(const char *, const char *);
char *strtok(char *__restrict, const char *__restrict);
char *strsep(char **, const char *);
void *memset(void *, int, size_t);
void *memcpy(void *__restrict, const void *__restrict, size_t);
void *memmove(void *, const void *, size_t);
int memcmp(const void *, const void *, size_t);
/* C++ has two overloads of each. */
#ifndef __cplusplus
char *strchr(const char *, int);
char *strrchr(const char *, int);
char *strstr(const char *, const char *);
char *strpbrk(const char *, const char *);
void *memchr(const void *, int, size_t);
#endif

#ifdef __cplusplus
}
#endif

#endif
