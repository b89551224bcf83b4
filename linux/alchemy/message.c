// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages between tasks. Who sends waits in the receiver's queue until that takes the message, and
 * then until it replies.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "primary/lock.h"
#include "tasks.h"

/* A message on its way, on the sender's stack. */
struct message {
	RT_TASK_MCB *sent;
	RT_TASK_MCB *reply;
	int flow;
};

/* Copies what there is room for; without enough of it, the error is ENOBUFS. */
static int copy(RT_TASK_MCB *to, const RT_TASK_MCB *from)
{
	if (from->size > to->size)
		return -ENOBUFS;
	if (from->size > 0)
		memcpy(to->data, from->data, from->size);
	to->size = from->size;
	to->opcode = from->opcode;
	return 0;
}

static ssize_t do_send(RT_TASK *task, RT_TASK_MCB *sent, RT_TASK_MCB *reply, struct primary_end end)
{
	struct message message = { .sent = sent, .reply = reply };
	struct primary_wait wait = { .data = &message };
	struct primary_wait *receiver;
	struct task *found;
	int result;

	if (!alchemy_self())
		return -EPERM;
	found = alchemy_task(task);
	if (!found)
		return -EINVAL;
	receiver = primary_first(&found->receiver);
	/* It takes the message by itself when it runs. */
	if (receiver)
		primary_wake(receiver, 0);
	else if (end.clock == PRIMARY_AT_ONCE)
		return alchemy_leave(-EWOULDBLOCK);
	/* Who may not wait for the receiver waits for its reply. */
	result = primary_wait(&found->senders, &wait, end.clock == PRIMARY_AT_ONCE ? PRIMARY_FOREVER : end);
	if (!result && reply)
		result = reply->size;
	return alchemy_leave(result);
}

ssize_t rt_task_send_timed(RT_TASK *task, RT_TASK_MCB *sent, RT_TASK_MCB *reply, const struct timespec *end)
{
	return do_send(task, sent, reply, alchemy_at(end));
}

ssize_t rt_task_send_until(RT_TASK *task, RT_TASK_MCB *sent, RT_TASK_MCB *reply, RTIME end)
{
	return do_send(task, sent, reply, alchemy_until(end));
}

ssize_t rt_task_send(RT_TASK *task, RT_TASK_MCB *sent, RT_TASK_MCB *reply, RTIME timeout)
{
	return do_send(task, sent, reply, alchemy_after(timeout));
}

/* Moves a sender from those that wait to be heard to those that wait for a reply. */
static int take(struct task *self, struct primary_wait *sender, RT_TASK_MCB *to)
{
	struct message *message = sender->data;
	int error = copy(to, message->sent);

	if (error) {
		primary_wake(sender, error);
		return error;
	}
	self->flow = self->flow == INT_MAX ? 1 : self->flow + 1;
	message->flow = to->flowid = self->flow;
	primary_move(sender, &self->callers);
	return message->flow;
}

static int do_receive(RT_TASK_MCB *to, struct primary_end end)
{
	struct task *self = alchemy_self();
	struct primary_wait wait = { 0 }, *sender;
	int error = 0;

	if (!self)
		return -EPERM;
	primary_lock();
	while (!(sender = primary_first(&self->senders)) && !error)
		error = primary_wait(&self->receiver, &wait, end);
	return alchemy_leave(sender ? take(self, sender, to) : error);
}

int rt_task_receive_timed(RT_TASK_MCB *message, const struct timespec *end)
{
	return do_receive(message, alchemy_at(end));
}

int rt_task_receive_until(RT_TASK_MCB *message, RTIME end)
{
	return do_receive(message, alchemy_until(end));
}

int rt_task_receive(RT_TASK_MCB *message, RTIME timeout)
{
	return do_receive(message, alchemy_after(timeout));
}

/* The sender whose message has that number. */
static struct primary_wait *caller(struct task *self, int flow)
{
	for each_link(link, &self->callers.waits) {
		struct primary_wait *wait = holder_of(link, struct primary_wait, link);

		if (((struct message *)wait->data)->flow == flow)
			return wait;
	}
	return NULL;
}

int rt_task_reply(int flow, RT_TASK_MCB *reply)
{
	static const RT_TASK_MCB none;
	struct task *self = alchemy_self();
	struct primary_wait *sender;
	struct message *message;
	int error = 0;

	if (!self)
		return -EPERM;
	if (flow <= 0)
		return -EINVAL;
	primary_lock();
	sender = caller(self, flow);
	/* It does not wait any more. */
	if (!sender)
		return alchemy_leave(-ENXIO);
	message = sender->data;
	if (message->reply)
		error = copy(message->reply, reply ? reply : &none);
	else if (reply && reply->size > 0)
		error = -ENOBUFS;
	primary_wake(sender, error);
	return alchemy_leave(error);
}
