/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads as the parts of libcobalt know them. */
#ifndef COBALT_THREAD_H
#define COBALT_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

static inline bool cobalt_is_urgent(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* The policy and priority that stand for one of Cobalt's. Returns 0 or EINVAL. */
int cobalt_translate(int policy, const struct sched_param_ex *parameters, int *linux_policy,
		     struct sched_param *linux_parameters);
/* The calling thread got a policy: an urgent one goes to primary mode. */
void cobalt_thread_has(int policy, int priority);

#endif
