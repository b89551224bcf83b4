/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the numbers that tasks show. */
#ifndef NAMES_H
#define NAMES_H

#include <stdint.h>

const char *name_of_task_state(uint32_t state);
const char *name_of_thread_state(uint32_t state);
const char *name_of_mode(uint32_t mode);

#endif
