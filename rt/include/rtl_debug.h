/* Debugging aids. */
#ifndef RTL_DEBUG_H
#define RTL_DEBUG_H

#include <rtl_printf.h>

/* Runs the following statement only the first n times that control comes here. */
#define do_first(n) if (({ static int do_first_count_; do_first_count_ < (n) && ++do_first_count_; }))

/* Runs the following statement every n-th time that control comes here, the first time included. */
#define do_every(n) if (({ static unsigned int do_every_count_; do_every_count_++ % (n) == 0; }))

#define debugpr(format, ...) rtl_printf(format, ##__VA_ARGS__)

/* Stops the task with a report of its registers and of where it was called from. */
#define breakpoint() __asm__ __volatile__("int3")
#define BREAKPOINT() breakpoint()
#define rtl_debug_initialized 1

#endif
