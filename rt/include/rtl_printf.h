/* Output to the task's log, from any context. */
#ifndef RTL_PRINTF_H
#define RTL_PRINTF_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

int rtl_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int rtl_vprintf(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
int rtl_cprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int rtl_printk(const char *format, ...) __attribute__((format(printf, 1, 2)));
void conpr(const char *text);
void conprn(unsigned int number);

#define rt_printk rtl_printf

#ifdef __cplusplus
}
#endif
#endif
