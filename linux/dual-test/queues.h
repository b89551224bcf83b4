/* SPDX-License-Identifier: GPL-2.0-only */
/* What tests of POSIX's message queues have in common. */
#ifndef QUEUES_H
#define QUEUES_H

#include <mqueue.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of queues. */
#define NAME "/dual-test"

/*
 * Makes a queue with that name, which nobody had. `most` is 0 for one as Linux makes it if it is
 * told nothing.
 */
mqd_t make_named_queue(const char *name, long most, long size, int flags);
/* Makes one whose name is gone, so that it ends with the test. */
mqd_t make_queue(long most, long size, int flags);
/* The calls themselves, with what the kernel returns; `until` is a time of CLOCK_REALTIME, or 0. */
long queue_send(mqd_t queue, const void *text, size_t length, unsigned int priority, int64_t until);
long queue_receive(mqd_t queue, void *text, size_t room, unsigned int *priority, int64_t until);
/* Sends a number, and receives one. */
void sends(mqd_t queue, uint32_t number, unsigned int priority);
uint32_t received(mqd_t queue);
/* Messages now. */
long messages(mqd_t queue);
/*
 * Waits until a thread, of any process, that has written its number there, and does nothing else,
 * waits.
 */
void await_sleep(volatile pid_t *thread);
/* How often the calling thread went to Linux by calls about queues. */
uint64_t queue_calls_left(void);

#endif
