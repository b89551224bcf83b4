// SPDX-License-Identifier: GPL-2.0-only
/* What the protocols of AF_RTIPC share. */
#include "ipc.h"

#include <errno.h>
#include <string.h>
#include <xenomai/tunables.h>

#include "internal.h"

struct primary_end ipc_end(const struct socket *socket, int flags, int64_t ns)
{
	if (flags & MSG_DONTWAIT || socket->file.flags)
		return PRIMARY_TRY;
	return ns ? PRIMARY_UNTIL(CLOCK_MONOTONIC, primary_later(CLOCK_MONOTONIC, ns)) : PRIMARY_FOREVER;
}

int ipc_peer(struct socket *socket, int port, struct socket **peer)
{
	if (port < 0)
		port = socket->peer;
	if (port < 0)
		return -EDESTADDRREQ;
	if (port >= IPC_PORTS)
		return -EINVAL;
	*peer = socket->protocol->ports[port];
	return *peer ? 0 : -ECONNREFUSED;
}

void ipc_gather(void *to, const struct msghdr *message, size_t size)
{
	char *at = to;
	size_t i, piece;

	for (i = 0; i < message->msg_iovlen && size; i++, at += piece, size -= piece) {
		piece = message->msg_iov[i].iov_len < size ? message->msg_iov[i].iov_len : size;
		memcpy(at, message->msg_iov[i].iov_base, piece);
	}
}

void ipc_scatter(const struct msghdr *message, const void *from, size_t size)
{
	const char *at = from;
	size_t i, piece;

	for (i = 0; i < message->msg_iovlen && size; i++, at += piece, size -= piece) {
		piece = message->msg_iov[i].iov_len < size ? message->msg_iov[i].iov_len : size;
		memcpy(message->msg_iov[i].iov_base, at, piece);
	}
}

struct primary_heap *ipc_heap(struct socket *socket)
{
	if (!socket->heap)
		socket->heap = socket->pool_size ? primary_heap_make(socket->pool_size) :
						   primary_pool(__xenomai_settings.mem_pool_size);
	return socket->heap;
}

ssize_t ipc_receive(struct socket *socket, const struct msghdr *message, size_t size, int flags, int *port)
{
	struct primary_message *taken;
	int error;

	if (!socket->is_bound)
		return -EAGAIN;
	error = primary_box_take(&socket->box, &taken, ipc_end(socket, flags, socket->receive_ns));
	if (error)
		return error;
	if (size > taken->size)
		size = taken->size;
	*port = taken->from;
	ipc_scatter(message, taken->text, size);
	primary_message_put(taken);
	return size;
}
