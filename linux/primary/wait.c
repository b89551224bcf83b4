// SPDX-License-Identifier: GPL-2.0-only
#include "wait.h"

#include <errno.h>

#include "lock.h"

__thread int (*primary_sleeps)(void);

void primary_queue_init(struct primary_queue *queue, bool by_priority)
{
	link_init(&queue->waits);
	queue->by_priority = by_priority;
}

static struct primary_wait *wait_of(struct link *link)
{
	return holder_of(link, struct primary_wait, link);
}

struct primary_wait *primary_first(const struct primary_queue *queue)
{
	return link_alone(&queue->waits) ? NULL : wait_of(queue->waits.next);
}

static void enqueue(struct primary_queue *queue, struct primary_wait *wait)
{
	struct link *next = queue->waits.next;

	if (!queue->by_priority)
		next = &queue->waits;
	while (next != &queue->waits && wait_of(next)->thread->priority >= wait->thread->priority)
		next = next->next;
	link_before(&wait->link, next);
}

void primary_wake(struct primary_wait *wait, int result)
{
	link_remove(&wait->link);
	wait->result = result;
	__atomic_store_n(&wait->has_ended, 1, __ATOMIC_RELEASE);
	primary_rouse(wait->thread, &wait->has_ended);
}

void primary_move(struct primary_wait *wait, struct primary_queue *queue)
{
	link_remove(&wait->link);
	wait->queue = queue;
	enqueue(queue, wait);
}

unsigned int primary_wake_all(struct primary_queue *queue, int result)
{
	struct primary_wait *first;
	unsigned int count = 0;

	for (; (first = primary_first(queue)); count++)
		primary_wake(first, result);
	return count;
}

unsigned int primary_count(const struct primary_queue *queue)
{
	unsigned int count = 0;

	for each_link(link, &queue->waits)
		count++;
	return count;
}

unsigned int primary_list(const struct primary_queue *queue, pid_t *numbers, unsigned int room)
{
	unsigned int count = 0;

	for each_link(link, &queue->waits)
		if (count < room)
			numbers[count++] = wait_of(link)->thread->tid;
	return count;
}

void primary_wake_some(struct primary_queue *queue, bool (*ends)(struct primary_wait *wait))
{
	struct link *link, *next;

	for (link = queue->waits.next; link != &queue->waits; link = next) {
		next = link->next;
		if (ends(wait_of(link)))
			primary_wake(wait_of(link), 0);
	}
}

/* A thread's place in its queue follows its priority. */
void primary_set_priority(struct primary_thread *thread, int policy, int priority)
{
	struct primary_wait *wait = thread->wait;

	thread->policy = policy;
	thread->priority = priority;
	if (wait && !wait->has_ended && wait->queue->by_priority) {
		link_remove(&wait->link);
		enqueue(wait->queue, wait);
	}
}

static void cancelled(void *argument)
{
	struct primary_wait *wait = argument;

	primary_lock();
	wait->thread->wait = NULL;
	if (!wait->has_ended)
		link_remove(&wait->link);
	else if (!wait->result && wait->give_back)
		wait->give_back(wait);
	primary_unlock();
}

/* A thread is cancelled in the system call, or not in here. */
static int sleep_in(struct primary_wait *wait, const struct primary_end *end)
{
	int before, error;

	pthread_cleanup_push(cancelled, wait);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
	error = primary_sleep(wait->thread, &wait->has_ended, end);
	pthread_setcanceltype(before, NULL);
	pthread_cleanup_pop(0);
	return error;
}

int primary_wait(struct primary_queue *queue, struct primary_wait *wait, struct primary_end end)
{
	bool is_asked = !wait->is_forced;
	int error;

	if (end.clock == PRIMARY_AT_ONCE)
		return -EWOULDBLOCK;
	wait->thread = primary_self();
	wait->queue = queue;
	wait->has_ended = 0;
	wait->thread->wait = wait;
	enqueue(queue, wait);
	do {
		primary_unlock();
		error = is_asked ? primary_may_sleep() : 0;
		is_asked = false;
		if (!error)
			error = sleep_in(wait, &end);
		primary_lock();
	} while (!wait->has_ended && error != -ETIMEDOUT && error != -EINTR);
	wait->thread->wait = NULL;
	if (wait->has_ended)
		return wait->result;
	link_remove(&wait->link);
	return error;
}
