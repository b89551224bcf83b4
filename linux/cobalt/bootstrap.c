// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes before a program's main function, unless it is linked with --no-auto-init. This is an
 * object of its own, of which each program and each shared library has one: the libraries of a
 * program may have libcobalt in them, but only the program has a main function.
 */
#include <xenomai/init.h>

int __real_main(int count, char *const *arguments, char **environment) __attribute__((weak));
__attribute__((visibility("hidden"))) int __wrap_main(int count, char *const *arguments, char **environment);

int __wrap_main(int count, char *const *arguments, char **environment)
{
	xenomai_init(&count, &arguments);
	return __real_main(count, arguments, environment);
}
