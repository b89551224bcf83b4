/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of two functions with one name a program means. */
#ifndef _COBALT_WRAPPERS_H
#define _COBALT_WRAPPERS_H

#define __WRAP(call) __wrap_##call
/* The C library's, and that of primary mode; the latter is also what the bare name means. */
#define __STD(call) __real_##call
#define __COBALT(call) __WRAP(call)
#define __RT(call) __COBALT(call)
#define COBALT_DECL(type, declaration) \
	extern __typeof__(type) __STD(declaration); \
	extern __typeof__(type) __WRAP(declaration)

#endif
