/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the numbers that tasks show. */
#ifndef NAMES_H
#define NAMES_H

#include <stdint.h>

const char *name_of_task_state(uint32_t state);
const char *name_of_thread_state(uint32_t state);
const char *name_of_mode(uint32_t mode);

const char *name_of_dual_mode(uint32_t mode);
/* Why a thread left primary mode. */
const char *name_of_left(uint32_t reason);
/* A system call: its name if it is a common one, else its number. Valid until the next call. */
const char *name_of_call(uint32_t number);

#endif
