// SPDX-License-Identifier: GPL-2.0-only
/* Names of the numbers that tasks show. */
#include <pillion_channel.h>
#include <pillion_dual.h>
#include <stddef.h>

#include "names.h"

static const char *const task_states[] = {
	[PILLION_TASK_NONE] = "none",
	[PILLION_TASK_STOPPED] = "stopped",
	[PILLION_TASK_STARTING] = "starting",
	[PILLION_TASK_RUNNING] = "running",
	[PILLION_TASK_STOPPING] = "stopping",
	[PILLION_TASK_FAULTED] = "faulted",
};

static const char *const thread_states[] = {
	[PILLION_THREAD_FREE] = "free",
	[PILLION_THREAD_READY] = "ready",
	[PILLION_THREAD_PERIODIC] = "periodic",
	[PILLION_THREAD_SLEEPING] = "sleeping",
	[PILLION_THREAD_BLOCKED] = "blocked",
	[PILLION_THREAD_SUSPENDED] = "suspended",
	[PILLION_THREAD_ENDED] = "ended",
};

static const char *const modes[] = {
	[PILLION_MODE_REAL_TIME] = "real-time",
	[PILLION_MODE_LINUX] = "linux",
	[PILLION_MODE_INTERRUPT] = "interrupt",
};

static const char *const dual_modes[] = {
	[PILLION_DUAL_SECONDARY] = "linux",
	[PILLION_DUAL_PRIMARY] = "primary",
};

static const char *const left[] = {
	[PILLION_DUAL_LEFT_RECALL] = "recall",
	[PILLION_DUAL_LEFT_CALL] = "call",
	[PILLION_DUAL_LEFT_FAULT] = "page fault",
	[PILLION_DUAL_LEFT_EXCEPTION] = "exception",
	[PILLION_DUAL_LEFT_INSTRUCTION] = "instruction",
	[PILLION_DUAL_LEFT_REFUSED] = "refused",
	[PILLION_DUAL_LEFT_WATCHDOG] = "watchdog",
};

#define NAME(names, number) ((number) < sizeof(names) / sizeof((names)[0]) ? (names)[number] : "?")

const char *name_of_task_state(uint32_t state)
{
	return NAME(task_states, state);
}

const char *name_of_thread_state(uint32_t state)
{
	return NAME(thread_states, state);
}

const char *name_of_mode(uint32_t mode)
{
	return NAME(modes, mode);
}

const char *name_of_dual_mode(uint32_t mode)
{
	return NAME(dual_modes, mode);
}

const char *name_of_left(uint32_t reason)
{
	return NAME(left, reason);
}
