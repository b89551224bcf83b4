/*
 * Beside ../fpu.c: keeps leaving other numbers, another rounding direction and another precision in
 * the registers, and counts in the shared buffer until that says to stop.
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pthread.h>
#include <mbuff.h>
#include <pillion.h>

#include "../start.h"

static volatile int *count;
static pthread_t thread;

static void *run(void *unused)
{
	static const unsigned int mxcsr = 0x7f80;
	static const unsigned short control = 0x0c7f;
	pthread_make_periodic_np(pthread_self(), gethrtime() + 10000, 5500);
	while (!count[1]) {
		pthread_wait_np();
		__asm__ volatile("fninit; fldcw %0; fldpi; fldpi; fldpi; fldpi; fldpi; fldpi; fldpi; fldpi; ldmxcsr %1; pcmpeqd %%xmm0, %%xmm0; movdqa %%xmm0, %%xmm1; "
				 "movdqa %%xmm0, %%xmm2; movdqa %%xmm0, %%xmm3; movdqa %%xmm0, %%xmm8" ::"m"(control), "m"(mxcsr)
				 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm8");
		++*count;
	}
	pillion_unload();
	return unused;
}

int init_module(void)
{
	count = mbuff_alloc("fpu", 4096);
	if (!count)
		return -ENOMEM;
	return -start(&thread, 30, run, NULL);
}

void cleanup_module(void)
{
	mbuff_free("fpu", (void *)count);
}
