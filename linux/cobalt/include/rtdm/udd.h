/* SPDX-License-Identifier: GPL-2.0-only */
/* Drivers in user space, as programs name what they ask of a device. None is here: open() fails. */
#ifndef _RTDM_UDD_H
#define _RTDM_UDD_H

#include <rtdm/rtdm.h>

/* How to be told of an interrupt; -1: no signal. */
struct udd_signotify {
	pid_t pid;
	int sig;
};

#define RTIOC_TYPE_UDD RTDM_CLASS_UDD
#define UDD_RTIOC_IRQEN _IO(RTIOC_TYPE_UDD, 0)
#define UDD_RTIOC_IRQDIS _IO(RTIOC_TYPE_UDD, 1)
#define UDD_RTIOC_IRQSIG _IOW(RTIOC_TYPE_UDD, 2, struct udd_signotify)

#endif
