/* SPDX-License-Identifier: GPL-2.0-only */
/* Mutexes and conditions that have an object with a name. Who opened it closes it. */
#ifndef COBALT_ADOPT_H
#define COBALT_ADOPT_H

#include <pthread.h>
#include <stdint.h>

void cobalt_mutex_adopt(pthread_mutex_t *mutex, uint32_t handle);
void cobalt_cond_adopt(pthread_cond_t *cond, uint32_t handle);

#endif
