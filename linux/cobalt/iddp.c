// SPDX-License-Identifier: GPL-2.0-only
/* IDDP: datagrams between the threads of a process. */
#include <poll.h>

#include "internal.h"
#include "ipc.h"
#include "primary/lock.h"

static int do_bind(struct socket *socket)
{
	primary_box_init(&socket->box, true);
	primary_queue_init(&socket->senders, true);
	return ipc_heap(socket) ? 0 : -ENOMEM;
}

/* Waits for memory of the receiver's, which may be the process's. */
static ssize_t do_send(struct socket *socket, const struct msghdr *header, size_t size, int flags, int port)
{
	struct primary_end end = ipc_end(socket, flags, socket->send_ns);
	struct primary_message *message;
	struct primary_wait wait = { 0 };
	struct socket *peer;
	int error;

	for (;;) {
		error = ipc_peer(socket, port, &peer);
		if (error)
			return error;
		message = primary_message_make(peer->heap, size);
		if (message)
			break;
		error = primary_wait(&peer->senders, &wait, end);
		if (error)
			return error == -EWOULDBLOCK ? -ENOMEM : error;
	}
	ipc_gather(message->text, header, size);
	message->from = socket->port;
	primary_box_put(&peer->box, message, flags & MSG_OOB);
	primary_changed(&peer->file);
	return size;
}

static ssize_t do_receive(struct socket *socket, const struct msghdr *message, size_t size, int flags, int *port)
{
	ssize_t result = ipc_receive(socket, message, size, flags, port);

	if (result >= 0)
		primary_wake_all(&socket->senders, 0);
	return result;
}

static unsigned int events(struct socket *socket)
{
	return POLLOUT | (socket->is_bound && socket->box.count ? POLLIN : 0);
}

static void closes(struct socket *socket)
{
	primary_box_end(&socket->box, -EBADF);
	primary_wake_all(&socket->senders, -ECONNRESET);
}

static void ends(struct socket *socket)
{
	if (socket->pool_size)
		primary_free(socket->heap);
}

struct protocol cobalt_iddp = {
	.level = SOL_IDDP,
	.pool_option = IDDP_POOLSZ,
	.bind = do_bind,
	.send = do_send,
	.receive = do_receive,
	.events = events,
	.closes = closes,
	.ends = ends,
};
