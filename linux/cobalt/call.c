// SPDX-License-Identifier: GPL-2.0-only
/* The way to primary mode, which the process takes before its main function. */
#include <errno.h>
#include <fcntl.h>
#include <pillion_dual.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "internal.h"

static int device = -1;

bool cobalt_is_there(void)
{
	return device >= 0;
}

static long raw(long number, long command, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	register long r10 asm("r10") = b;
	register long r8 asm("r8") = c;
	register long r9 asm("r9") = d;
	long result;

	asm volatile("syscall" : "=a" (result) : "0" (number), "D" ((long)device), "S" (command), "d" (a), "r" (r10),
		     "r" (r8), "r" (r9) : "rcx", "r11", "memory");
	return result;
}

long cobalt_call(unsigned int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	long command = PILLION_IOC_DUAL_CALL(number), result;

	do {
		result = raw(PILLION_DUAL_SERVICE_FIRST + number, command, a, b, c, d);
		if (result == -ENOSYS)
			result = raw(SYS_ioctl, command, a, b, c, d);
	} while (result == -ENOSYS);
	return result;
}

int cobalt_warn(bool warns)
{
	struct pillion_dual_mark mark = { .flags = warns ? PILLION_DUAL_WARN : 0,
					  .clear = warns ? 0 : PILLION_DUAL_WARN };

	return ioctl(device, PILLION_IOC_DUAL_MARK, &mark) ? errno : 0;
}

int cobalt_make(uint32_t *handle, unsigned int kind, uint64_t value, uint64_t flags)
{
	uint32_t none = 0;
	long made;

	if (__atomic_load_n(handle, __ATOMIC_ACQUIRE))
		return 0;
	made = COBALT_CALL(CREATE, kind, value, flags, 0);
	if (made < 0)
		return -made;
	if (!__atomic_compare_exchange_n(handle, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		COBALT_CALL(DESTROY, made, 0, 0, 0);
	return 0;
}

/* The objects of the program's own constructors are in primary mode already. */
__attribute__((constructor(101))) static void begin(void)
{
	/* `pillion exec` may have marked it, and then wants what it asked for. */
	struct pillion_dual_mark mark = { .flags = 0 };
	int error;

	device = open(PILLION_DUAL_DEVICE, O_RDWR | O_CLOEXEC);
	error = device < 0 || ioctl(device, PILLION_IOC_DUAL_MARK, &mark) ? errno : 0;
	if (error) {
		fprintf(stderr, "libcobalt: no primary mode: %s: %s; the program runs in Linux alone\n", PILLION_DUAL_DEVICE,
			strerror(error));
		device = -1;
	} else if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
		fprintf(stderr, "libcobalt: memory is not locked: %s; raise RLIMIT_MEMLOCK\n", strerror(errno));
	}
}
