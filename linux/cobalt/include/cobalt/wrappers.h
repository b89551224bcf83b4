/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of two functions with one name a program means: the bare name is this library's where the
 * linker wraps it.
 */
#ifndef _COBALT_WRAPPERS_H
#define _COBALT_WRAPPERS_H

#define __WRAP(call) __wrap_##call
/* The C library's. */
#define __STD(call) __real_##call
/* This library's. */
#define __COBALT(call) __cobalt_##call
#define __RT(call) __COBALT(call)
#define COBALT_DECL(type, declaration) \
	extern __typeof__(type) __STD(declaration); \
	extern __typeof__(type) __COBALT(declaration); \
	extern __typeof__(type) __WRAP(declaration)

#endif
