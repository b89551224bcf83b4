/* Functions that the C sources share, most of them written in Rust. */
#ifndef PILLION_PRINT_H
#define PILLION_PRINT_H

#include <stdarg.h>
#include <stddef.h>

void pillion_print(const char *text, size_t size);
int pillion_vprint(const char *format, va_list arguments);

long long pillion_ticks_to_ns(long long ticks);

/* Stops the task with a report. */
void pillion_stop(void) __attribute__((noreturn));

#endif
