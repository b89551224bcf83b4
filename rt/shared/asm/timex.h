/* The cycle counter. */
#ifndef ASM_TIMEX_H
#define ASM_TIMEX_H

#include <asm/msr.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef CLOCK_TICK_RATE
#define CLOCK_TICK_RATE 1193180
#endif

typedef unsigned long long cycles_t;

static __inline__ cycles_t get_cycles(void)
{
	return __builtin_ia32_rdtsc();
}

#ifdef __cplusplus
}
#endif

#endif
