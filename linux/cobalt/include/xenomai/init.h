/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Start of a program. A program that is linked with what `xeno-config --ldflags` says is started
 * before its main function, with the options of the libraries taken from its arguments.
 */
#ifndef _XENOMAI_INIT_H
#define _XENOMAI_INIT_H

#include <xenomai/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the libraries' options from the arguments; a second call does nothing. */
void xenomai_init(int *argcp, char *const **argvp);
void xenomai_init_shlib(int *argcp, char *const **argvp);
void xenomai_init_dso(int *argcp, char *const **argvp);
/* Shows the libraries' options. */
void xenomai_usage(void);
void xenomai_help(void);
/* The program's, if it has options of its own. */
void application_usage(void);
void application_version(void);
extern const char *xenomai_version_string;
/* The name by which the program was called, without its folders. */
const char *get_program_name(void);

#ifdef __cplusplus
}
#endif

#endif
