/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VDSO_H
#define VDSO_H

#include <stdint.h>

/*
 * The address of a function in the vDSO, from its beginning on; 0: there is none. It is the same in
 * all 64-bit processes.
 */
uint64_t vdso_function(const char *name);

#endif
