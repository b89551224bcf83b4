/* Cycles. */
#ifndef LINUX_TIMEX_H
#define LINUX_TIMEX_H

#include <asm/timex.h>

#endif
