/* SPDX-License-Identifier: GPL-2.0-only */
/* Start of a program, as xenomai/init.h has it. */
#ifndef _COPPERPLATE_INIT_H
#define _COPPERPLATE_INIT_H

#include <xenomai/init.h>
#include <xenomai/tunables.h>

#ifdef __cplusplus
extern "C" {
#endif

int copperplate_init(int *argcp, char *const **argvp);
int alchemy_init(int *argcp, char *const **argvp);

#ifdef __cplusplus
}
#endif

#endif
