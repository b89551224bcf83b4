// SPDX-License-Identifier: GPL-2.0-only
/* Handlers cannot reach what belongs to Linux's kernel. */
#include "test.h"

/* Kernel memory that is mapped: the interrupt table, the kernel's code, the first pages. */
static volatile unsigned long targets[] = { 0xfffffe0000000000, 0xffffffff81000000, 0xffff888000001000 };
static volatile unsigned int target;

static void reads_kernel(int sig)
{
	(void)sig;
	(void)*(volatile char *)targets[target];
}

static void writes_kernel(int sig)
{
	(void)sig;
	*(volatile char *)targets[target] = 0;
}

static void jumps_into_kernel(int sig)
{
	(void)sig;
	((void (*)(void))targets[target])();
}

static void changes_tables(int sig)
{
	(void)sig;
	asm volatile("mov %0, %%cr3" : : "r" (0x1000ul) : "memory");
}

static void writes_register(int sig)
{
	(void)sig;
	asm volatile("wrmsr" : : "c" (0xc0000082), "a" (0), "d" (0) : "memory");
}

static void halts(int sig)
{
	(void)sig;
	asm volatile("hlt");
}

/*
 * A handler has its process's user mode and nothing more: everything of the kernel is on the same
 * page tables, but out of reach.
 */
void confines(void)
{
	static void (*const reaches[])(int) = { reads_kernel, writes_kernel, jumps_into_kernel };
	struct rtlinux_sigstate state;
	size_t i;

	for (target = 0; target < sizeof(targets) / sizeof(targets[0]); target++) {
		for (i = 0; i < sizeof(reaches) / sizeof(reaches[0]); i++) {
			handle(RTLINUX_SIGTIMER(4), reaches[i], MILLISECOND, RTLINUX_SA_PERIODIC);
			nap(30);
			state = state_of(RTLINUX_SIGTIMER(4));
			check(!state.is_active && state.fault == 14, "a handler reached the kernel");
			check(state.address == (void *)targets[target], "another address than the kernel's");
		}
	}
	ends(changes_tables, 13, "a handler changes its page tables");
	ends(writes_register, 13, "a handler writes a register of the processor's");
	ends(halts, 13, "a handler stops the processor");
}
