// SPDX-License-Identifier: GPL-2.0-only
/* BUFP: a stream of bytes, which goes into the buffer of the socket that is bound. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "ipc.h"

/* Bytes that are gathered at a time. */
#define PIECE 4096

static int do_bind(struct socket *socket)
{
	if (!socket->buffer_size)
		return -ENOBUFS;
	return primary_buffer_init(&socket->buffer, socket->buffer_size, true);
}

/* All of it, or nothing: one piece, of which the lock is not freed before there is room. */
static ssize_t do_send(struct socket *socket, const struct msghdr *message, size_t size, int flags, int port)
{
	char text[PIECE];
	struct socket *peer;
	int error = ipc_peer(socket, port, &peer);
	ssize_t result;

	if (error)
		return error;
	if (!size)
		return 0;
	if (message->msg_iovlen == 1) {
		result = primary_buffer_write(&peer->buffer, message->msg_iov[0].iov_base, size,
					      ipc_end(socket, flags, socket->send_ns));
	} else {
		if (size > sizeof(text))
			return -EMSGSIZE;
		ipc_gather(text, message, size);
		result = primary_buffer_write(&peer->buffer, text, size, ipc_end(socket, flags, socket->send_ns));
	}
	if (result > 0)
		primary_changed(&peer->file);
	return result;
}

static ssize_t do_receive(struct socket *socket, const struct msghdr *message, size_t size, int flags, int *port)
{
	struct primary_end end = ipc_end(socket, flags, socket->receive_ns);
	char text[PIECE];
	ssize_t result;

	*port = -1;
	if (!socket->is_bound)
		return -EAGAIN;
	if (message->msg_iovlen == 1) {
		result = primary_buffer_read(&socket->buffer, message->msg_iov[0].iov_base, size, end);
	} else {
		result = primary_buffer_read(&socket->buffer, text, size < sizeof(text) ? size : sizeof(text), end);
		if (result > 0)
			ipc_scatter(message, text, result);
	}
	return result;
}

static unsigned int events(struct socket *socket)
{
	struct socket *peer;
	unsigned int found = 0;

	if (socket->is_bound && socket->buffer.used)
		found |= POLLIN;
	if (!ipc_peer(socket, -1, &peer) && peer->buffer.used < peer->buffer.size)
		found |= POLLOUT;
	return found;
}

static void closes(struct socket *socket)
{
	primary_buffer_end(&socket->buffer, -ECONNRESET);
}

static void ends(struct socket *socket)
{
	(void)socket;
}

struct protocol cobalt_bufp = {
	.level = SOL_BUFP,
	.buffer_option = BUFP_BUFSZ,
	.bind = do_bind,
	.send = do_send,
	.receive = do_receive,
	.events = events,
	.closes = closes,
	.ends = ends,
};
