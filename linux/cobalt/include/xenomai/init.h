/* SPDX-License-Identifier: GPL-2.0-only */
/* Start of a program: libcobalt prepares the process before its main function. */
#ifndef _XENOMAI_INIT_H
#define _XENOMAI_INIT_H

static inline void xenomai_init(int *argcp, char *const **argvp)
{
	(void)argcp;
	(void)argvp;
}

#endif
