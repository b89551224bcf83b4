/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output of threads in primary mode: it goes into a ring in memory, and a thread of Linux writes it
 * out. A thread in Linux writes what is in the ring and then its own.
 */
#ifndef PRIMARY_PRINT_H
#define PRIMARY_PRINT_H

#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

/* Where a text goes, if not to a stream: to the system's log. */
#define PRIMARY_LOG ((FILE *)0)

/*
 * Puts a text into the ring. The priority is that of the system's log. Returns how long the text
 * is; what does not fit is lost, and counted.
 */
int primary_say(FILE *stream, int priority, const char *format, va_list arguments);
ssize_t primary_say_text(FILE *stream, int priority, const void *text, size_t size);
/* Starts the thread that writes, which nobody in primary mode can do. Returns 0, or an error. */
int primary_print_begin(void);
/* Writes out what is in the ring; in Linux. */
void primary_print_flush(void);

#endif
