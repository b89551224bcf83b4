/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The C library's functions, where a skin may have wrapped them for its program: the linker then
 * wraps them here as well, and offers them by other names.
 */
#ifndef PRIMARY_NATIVE_H
#define PRIMARY_NATIVE_H

#define NATIVE_DECLARE(function) extern __typeof__(function) __real_##function __attribute__((weak))
#define NATIVE(function) (__real_##function ? __real_##function : function)

#endif
