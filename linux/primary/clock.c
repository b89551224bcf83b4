// SPDX-License-Identifier: GPL-2.0-only
#include "clock.h"

#include <fcntl.h>
#include <pillion_dual.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "native.h"

NATIVE_DECLARE(clock_gettime);

static bool avoids_vdso;

void primary_clock_begin(void)
{
	long file = syscall(SYS_openat, AT_FDCWD, PILLION_DUAL_VDSO, O_RDONLY | O_CLOEXEC);
	char can = '0';

	if (file >= 0) {
		if (syscall(SYS_read, file, &can, 1) != 1)
			can = '0';
		syscall(SYS_close, file);
	}
	avoids_vdso = can != '1';
}

bool primary_avoids_vdso(void)
{
	return avoids_vdso;
}

int primary_read_clock(clockid_t clock, struct timespec *time)
{
	return avoids_vdso ? syscall(SYS_clock_gettime, clock, time) : NATIVE(clock_gettime)(clock, time);
}
