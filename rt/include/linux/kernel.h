/* printk, and small helpers. */
#ifndef LINUX_KERNEL_H
#define LINUX_KERNEL_H

#include <stdarg.h>
#include <stddef.h>
#include <linux/types.h>
#include <linux/linkage.h>
#include <linux/string.h>
#ifdef __cplusplus
extern "C" {
#endif

#define KERN_EMERG "<0>"
#define KERN_ALERT "<1>"
#define KERN_CRIT "<2>"
#define KERN_ERR "<3>"
#define KERN_WARNING "<4>"
#define KERN_NOTICE "<5>"
#define KERN_INFO "<6>"
#define KERN_DEBUG "<7>"

/* Writes to the task's log, without the level if the text begins with one. */
int printk(const char *format, ...) __attribute__((format(printf, 1, 2)));
void panic(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#define pr_debug(format, ...) printk(KERN_DEBUG format, ##__VA_ARGS__)
#define pr_info(format, ...) printk(KERN_INFO format, ##__VA_ARGS__)

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Only these functions of the C library are declared, so that a program may have functions of its
 * own with the names of the others.
 */
int sprintf(char *__restrict, const char *__restrict, ...);
int snprintf(char *__restrict, size_t, const char *__restrict, ...);
int vsprintf(char *__restrict, const char *__restrict, va_list);
int vsnprintf(char *__restrict, size_t, const char *__restrict, va_list);
int sscanf(const char *__restrict, const char *__restrict, ...);

long simple_strtol(const char *text, char **end, unsigned int base);
unsigned long simple_strtoul(const char *text, char **end, unsigned int base);
unsigned long long simple_strtoull(const char *text, char **end, unsigned int base);

#ifndef barrier
#define barrier() __asm__ __volatile__("" : : : "memory")
#endif

#ifndef likely
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif

#ifndef container_of
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#endif

/*
 * C++ has these in its library, and macros with these names would break its headers. A program that
 * defines them as functions gets none of these macros (`x build-task`).
 */
#if !defined(__cplusplus) && !defined(PILLION_OWN_MIN_MAX)
#ifndef min
#define min(a, b) ({ __typeof__(a) min_a_ = (a); __typeof__(b) min_b_ = (b); min_a_ < min_b_ ? min_a_ : min_b_; })
#endif
#ifndef max
#define max(a, b) ({ __typeof__(a) max_a_ = (a); __typeof__(b) max_b_ = (b); max_a_ > max_b_ ? max_a_ : max_b_; })
#endif
#endif
#ifndef min_t
#define min_t(type, a, b) ({ type min_a_ = (a); type min_b_ = (b); min_a_ < min_b_ ? min_a_ : min_b_; })
#define max_t(type, a, b) ({ type max_a_ = (a); type max_b_ = (b); max_a_ > max_b_ ? max_a_ : max_b_; })
#endif

#define BUG() panic("BUG in %s, line %d\n", __FILE__, __LINE__)
#define BUG_ON(condition) do { if (condition) BUG(); } while (0)

#ifdef __cplusplus
}
#endif
#endif
