// SPDX-License-Identifier: GPL-2.0-only
/*
 * XDDP: datagrams to Linux, where a port is /dev/rtpN, and between threads of the process. With a
 * buffer (XDDP_BUFSZ), what is sent with MSG_MORE is joined until Linux takes it.
 */
#include <poll.h>
#include <string.h>

#include "internal.h"
#include "ipc.h"
#include "primary/lock.h"

static void arrived(void *socket)
{
	primary_changed(&((struct socket *)socket)->file);
}

/* The device is opened in Linux, without the lock. */
static int do_bind(struct socket *socket)
{
	int error;

	primary_box_init(&socket->box, true);
	if (!ipc_heap(socket))
		return -ENOMEM;
	primary_unlock();
	error = primary_pipe_open(&socket->pipe, socket->port, socket->heap, &socket->box, arrived, socket);
	primary_lock();
	if (!error)
		socket->port = primary_pipe_number(socket->pipe);
	return error == -EBUSY ? -EADDRINUSE : error;
}

static ssize_t send_to_linux(struct socket *socket, const struct msghdr *header, size_t size, int flags)
{
	struct primary_message *message;

	if (!socket->is_bound)
		return -EDESTADDRREQ;
	if (size > PRIMARY_PIPE_MESSAGE)
		return -EMSGSIZE;
	if (flags & MSG_MORE && size <= socket->buffer_size) {
		char *room = primary_pipe_extend(socket->pipe, size, socket->buffer_size);

		if (!room)
			return -ENOMEM;
		ipc_gather(room, header, size);
		return size;
	}
	message = primary_message_make(socket->heap, size);
	if (!message)
		return -ENOMEM;
	ipc_gather(message->text, header, size);
	primary_pipe_send(socket->pipe, message, flags & MSG_OOB);
	return size;
}

static ssize_t do_send(struct socket *socket, const struct msghdr *header, size_t size, int flags, int port)
{
	struct primary_message *message;
	struct socket *peer;
	int error;

	if (!size)
		return 0;
	if (port < 0 && socket->peer < 0)
		return send_to_linux(socket, header, size, flags);
	error = ipc_peer(socket, port, &peer);
	if (error)
		return error;
	message = primary_message_make(peer->heap, size);
	if (!message)
		return -ENOMEM;
	ipc_gather(message->text, header, size);
	message->from = socket->port;
	primary_box_put(&peer->box, message, flags & MSG_OOB);
	primary_changed(&peer->file);
	return size;
}

static unsigned int events(struct socket *socket)
{
	return POLLOUT | (socket->is_bound && socket->box.count ? POLLIN : 0);
}

static void closes(struct socket *socket)
{
	primary_wake_all(&socket->box.readers, -EBADF);
}

/* The threads of the pipe have ended before the memory goes. */
static void ends(struct socket *socket)
{
	primary_unlock();
	if (socket->pipe)
		primary_pipe_close(socket->pipe);
	primary_lock();
	if (socket->is_bound)
		primary_box_clear(&socket->box);
	if (socket->pool_size)
		primary_free(socket->heap);
}

struct protocol cobalt_xddp = {
	.level = SOL_XDDP,
	.pool_option = XDDP_POOLSZ,
	.buffer_option = XDDP_BUFSZ,
	.bind = do_bind,
	.send = do_send,
	.receive = ipc_receive,
	.events = events,
	.closes = closes,
	.ends = ends,
};
