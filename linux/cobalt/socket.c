// SPDX-License-Identifier: GPL-2.0-only
/* Sockets: those of AF_RTIPC are this library's, all others Linux's. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "internal.h"
#include "ipc.h"
#include "primary/lock.h"

static struct socket *socket_of(struct primary_file *file)
{
	return holder_of(file, struct socket, file);
}

static size_t size_of(const struct msghdr *message)
{
	size_t size = 0, i;

	for (i = 0; i < message->msg_iovlen; i++)
		size += message->msg_iov[i].iov_len;
	return size;
}

static ssize_t do_send(struct socket *socket, const struct msghdr *message, int flags)
{
	const struct sockaddr_ipc *to = message->msg_name;
	size_t size = size_of(message);

	if (flags & ~(MSG_OOB | MSG_MORE | MSG_DONTWAIT | MSG_NOSIGNAL))
		return -EINVAL;
	if (to && (message->msg_namelen != sizeof(*to) || to->sipc_family != AF_RTIPC))
		return -EINVAL;
	return size > SSIZE_MAX ? -EINVAL : socket->protocol->send(socket, message, size, flags, to ? to->sipc_port : -1);
}

static ssize_t do_receive(struct socket *socket, struct msghdr *message, int flags)
{
	struct sockaddr_ipc *from = message->msg_name;
	ssize_t result;
	int port = -1;

	if (flags & ~MSG_DONTWAIT || (from && message->msg_namelen < sizeof(*from)))
		return -EINVAL;
	result = socket->protocol->receive(socket, message, size_of(message), flags, &port);
	if (result < 0)
		return result;
	if (from) {
		*from = (struct sockaddr_ipc){ AF_RTIPC, port };
		message->msg_namelen = sizeof(*from);
	}
	message->msg_flags = 0;
	message->msg_controllen = 0;
	return result;
}

static ssize_t do_read(struct primary_file *file, void *buffer, size_t size)
{
	struct iovec piece = { buffer, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

	return do_receive(socket_of(file), &message, 0);
}

static ssize_t do_write(struct primary_file *file, const void *buffer, size_t size)
{
	struct iovec piece = { (void *)buffer, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

	return do_send(socket_of(file), &message, 0);
}

static unsigned int events(struct primary_file *file)
{
	return socket_of(file)->protocol->events(socket_of(file));
}

static void closes(struct primary_file *file)
{
	struct socket *socket = socket_of(file);

	if (!socket->is_bound)
		return;
	socket->protocol->ports[socket->port] = NULL;
	primary_unname(&socket->name);
	socket->protocol->closes(socket);
}

static void ends(struct primary_file *file)
{
	struct socket *socket = socket_of(file);

	socket->protocol->ends(socket);
	free(socket);
}

static const struct cobalt_kind sockets = {
	.file = { .events = events, .closes = closes, .ends = ends },
	.read = do_read,
	.write = do_write,
};

WRAP(int, socket, int family, int type, int number)
{
	static struct protocol *const protocols[] = { &cobalt_iddp, &cobalt_xddp, &cobalt_iddp, &cobalt_bufp };
	struct socket *socket;
	int result;

	if (family != AF_RTIPC)
		return __real_socket(family, type, number);
	if ((type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != SOCK_DGRAM || number < 0 || number >= IPCPROTO_MAX)
		return cobalt_told(-EPROTONOSUPPORT);
	socket = calloc(1, sizeof(*socket));
	if (!socket)
		return cobalt_told(-ENOMEM);
	socket->protocol = protocols[number];
	socket->port = socket->peer = -1;
	link_init(&socket->name.link);
	result = primary_open(&socket->file, &sockets.file, type & (SOCK_NONBLOCK | SOCK_CLOEXEC));
	if (result < 0)
		free(socket);
	return cobalt_told(result);
}

static int choose_port(struct socket *socket)
{
	int port = 0;

	while (port < IPC_PORTS && socket->protocol->ports[port])
		port++;
	return port;
}

static int do_bind(struct socket *socket, const struct sockaddr_ipc *address)
{
	int error;

	if (socket->is_bound)
		return -EADDRINUSE;
	socket->port = address->sipc_port;
	/* XDDP's ports are devices, of which Linux knows which are free. */
	if (socket->port == -1 && socket->protocol != &cobalt_xddp)
		socket->port = choose_port(socket);
	if (socket->port < -1 || socket->port >= IPC_PORTS)
		error = -EADDRNOTAVAIL;
	else if (socket->port >= 0 && socket->protocol->ports[socket->port])
		error = -EADDRINUSE;
	else
		error = socket->label[0] && primary_named(socket->protocol, socket->label) ? -EADDRINUSE : 0;
	if (!error)
		error = socket->protocol->bind(socket);
	if (error) {
		socket->port = -1;
		return error;
	}
	socket->is_bound = true;
	socket->protocol->ports[socket->port] = socket;
	return socket->label[0] ? primary_name(&socket->name, socket->protocol, socket->label) : 0;
}

/* To the socket with the label, if a port is not named: it may not be there yet. */
static int do_connect(struct socket *socket, const struct sockaddr_ipc *address)
{
	struct primary_name *found;
	int error;

	if (!address || (address->sipc_port == -1 && !socket->label[0])) {
		socket->peer = -1;
		return 0;
	}
	if (address->sipc_port < -1 || address->sipc_port >= IPC_PORTS)
		return -EINVAL;
	socket->peer = address->sipc_port;
	if (socket->peer >= 0)
		return 0;
	error = primary_bind(socket->protocol, socket->label, ipc_end(socket, 0, socket->receive_ns), &found);
	if (!error)
		socket->peer = holder_of(found, struct socket, name)->port;
	return error;
}

static int set_time(const void *value, socklen_t length, int64_t *ns)
{
	const struct timeval *time = value;
	struct timespec precise;

	if (length != sizeof(*time))
		return -EINVAL;
	precise = (struct timespec){ time->tv_sec, time->tv_usec * 1000 };
	if (primary_ns(&precise) < 0)
		return -EDOM;
	*ns = primary_ns(&precise);
	return 0;
}

static int set_size(struct socket *socket, const void *value, socklen_t length, size_t *size)
{
	size_t wanted;

	if (length != sizeof(wanted))
		return -EINVAL;
	memcpy(&wanted, value, sizeof(wanted));
	if (wanted > INT_MAX)
		return -EINVAL;
	/* Memory is set up when the socket is bound. */
	if (socket->is_bound)
		return -EALREADY;
	*size = wanted;
	return 0;
}

static int set_label(struct socket *socket, const void *value, socklen_t length)
{
	if (length < sizeof(struct rtipc_port_label))
		return -EINVAL;
	if (socket->is_bound)
		return -EALREADY;
	memcpy(socket->label, value, sizeof(socket->label));
	socket->label[sizeof(socket->label) - 1] = 0;
	return 0;
}

static int do_set_option(struct socket *socket, int level, int option, const void *value, socklen_t length)
{
	const struct protocol *protocol = socket->protocol;

	if (level == SOL_SOCKET && option == SO_RCVTIMEO)
		return set_time(value, length, &socket->receive_ns);
	if (level == SOL_SOCKET && option == SO_SNDTIMEO)
		return set_time(value, length, &socket->send_ns);
	if (level != protocol->level)
		return -ENOPROTOOPT;
	/* All protocols have the same number for it. */
	if (option == XDDP_LABEL)
		return set_label(socket, value, length);
	if (option == protocol->pool_option)
		return set_size(socket, value, length, &socket->pool_size);
	if (option == protocol->buffer_option)
		return set_size(socket, value, length, &socket->buffer_size);
	/* A monitor is a function of a driver. */
	return protocol == &cobalt_xddp && option == XDDP_MONITOR ? -EPERM : -EINVAL;
}

static int do_get_option(struct socket *socket, int level, int option, void *value, socklen_t *length)
{
	int64_t ns = option == SO_RCVTIMEO ? socket->receive_ns : socket->send_ns;
	struct timeval time = { ns / PRIMARY_SECOND, ns % PRIMARY_SECOND / 1000 };

	if (level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO)) {
		if (*length < sizeof(time))
			return -EINVAL;
		memcpy(value, &time, sizeof(time));
		*length = sizeof(time);
		return 0;
	}
	if (level != socket->protocol->level)
		return -ENOPROTOOPT;
	if (option != XDDP_LABEL || *length < sizeof(socket->label))
		return -EINVAL;
	memcpy(value, socket->label, sizeof(socket->label));
	*length = sizeof(socket->label);
	return 0;
}

static int tell_address(int port, struct sockaddr *address, socklen_t *length)
{
	struct sockaddr_ipc told = { AF_RTIPC, port };

	if (*length < sizeof(told))
		return -EINVAL;
	memcpy(address, &told, sizeof(told));
	*length = sizeof(told);
	return 0;
}

/* A socket of this library's, with the lock; NULL: Linux knows what the descriptor is. */
static struct socket *enter(int number)
{
	struct primary_file *file = NULL;

	if (!primary_is_file(number))
		return NULL;
	primary_lock();
	file = primary_get(number, &sockets.file);
	if (file)
		return socket_of(file);
	primary_unlock();
	return NULL;
}

/* Returns what is done with a socket, for which it has the lock, as the program sees it. */
static long leave(struct socket *socket, long result)
{
	primary_put(&socket->file);
	primary_unlock();
	return cobalt_told(result);
}

enum action { SEND, RECEIVE, CONNECT };

/* What waits is a cancellation point. */
static ssize_t wait_in(struct socket *socket, enum action action, void *argument, int flags)
{
	ssize_t result;

	pthread_cleanup_push(cobalt_put_cancelled, &socket->file);
	if (action == SEND)
		result = do_send(socket, argument, flags);
	else if (action == RECEIVE)
		result = do_receive(socket, argument, flags);
	else
		result = do_connect(socket, argument);
	pthread_cleanup_pop(0);
	return result;
}

WRAP(ssize_t, sendmsg, int number, const struct msghdr *message, int flags)
{
	struct socket *socket = enter(number);

	if (!socket)
		return __real_sendmsg(number, message, flags);
	return leave(socket, wait_in(socket, SEND, (void *)message, flags));
}

WRAP(ssize_t, recvmsg, int number, struct msghdr *message, int flags)
{
	struct socket *socket = enter(number);

	if (!socket)
		return __real_recvmsg(number, message, flags);
	return leave(socket, wait_in(socket, RECEIVE, message, flags));
}

WRAP(ssize_t, sendto, int number, const void *buffer, size_t size, int flags, const struct sockaddr *to, socklen_t length)
{
	struct iovec piece = { (void *)buffer, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1, .msg_name = (void *)to, .msg_namelen = length };
	struct socket *socket = enter(number);

	if (!socket)
		return __real_sendto(number, buffer, size, flags, to, length);
	return leave(socket, wait_in(socket, SEND, &message, flags));
}

WRAP(ssize_t, recvfrom, int number, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
	struct iovec piece = { buffer, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1, .msg_name = from,
				  .msg_namelen = length ? *length : 0 };
	struct socket *socket = enter(number);
	ssize_t result;

	if (!socket)
		return __real_recvfrom(number, buffer, size, flags, from, length);
	result = leave(socket, wait_in(socket, RECEIVE, &message, flags));
	if (result >= 0 && from)
		*length = message.msg_namelen;
	return result;
}

WRAP(ssize_t, send, int number, const void *buffer, size_t size, int flags)
{
	return __cobalt_sendto(number, buffer, size, flags, NULL, 0);
}

WRAP(ssize_t, recv, int number, void *buffer, size_t size, int flags)
{
	return __cobalt_recvfrom(number, buffer, size, flags, NULL, NULL);
}

/* A port and a family, or nothing. */
static bool is_address(const struct sockaddr *address, socklen_t length)
{
	return length == sizeof(struct sockaddr_ipc) && address->sa_family == AF_RTIPC;
}

WRAP(int, bind, int number, const struct sockaddr *address, socklen_t length)
{
	struct socket *socket = enter(number);

	if (!socket)
		return __real_bind(number, address, length);
	if (!is_address(address, length))
		return leave(socket, -EINVAL);
	return leave(socket, do_bind(socket, (const struct sockaddr_ipc *)address));
}

WRAP(int, connect, int number, const struct sockaddr *address, socklen_t length)
{
	bool is_none = !address || !length;
	struct socket *socket = enter(number);

	if (!socket)
		return __real_connect(number, address, length);
	if (!is_none && !is_address(address, length))
		return leave(socket, -EINVAL);
	return leave(socket, wait_in(socket, CONNECT, is_none ? NULL : (void *)address, 0));
}

WRAP(int, setsockopt, int number, int level, int option, const void *value, socklen_t length)
{
	struct socket *socket = enter(number);

	if (!socket)
		return __real_setsockopt(number, level, option, value, length);
	return leave(socket, do_set_option(socket, level, option, value, length));
}

WRAP(int, getsockopt, int number, int level, int option, void *value, socklen_t *length)
{
	struct socket *socket = enter(number);

	if (!socket)
		return __real_getsockopt(number, level, option, value, length);
	return leave(socket, do_get_option(socket, level, option, value, length));
}

WRAP(int, getsockname, int number, struct sockaddr *address, socklen_t *length)
{
	struct socket *socket = enter(number);

	if (!socket)
		return __real_getsockname(number, address, length);
	return leave(socket, tell_address(socket->port, address, length));
}

WRAP(int, getpeername, int number, struct sockaddr *address, socklen_t *length)
{
	struct socket *socket = enter(number);

	if (!socket)
		return __real_getpeername(number, address, length);
	return leave(socket, tell_address(socket->peer, address, length));
}

/* Datagrams know no connections to be listened for. */
WRAP(int, listen, int number, int backlog)
{
	struct socket *socket = enter(number);

	return socket ? leave(socket, -EOPNOTSUPP) : __real_listen(number, backlog);
}

WRAP(int, accept, int number, struct sockaddr *address, socklen_t *length)
{
	struct socket *socket = enter(number);

	return socket ? leave(socket, -EOPNOTSUPP) : __real_accept(number, address, length);
}

WRAP(int, shutdown, int number, int how)
{
	struct socket *socket = enter(number);

	return socket ? leave(socket, -ENOTCONN) : __real_shutdown(number, how);
}
