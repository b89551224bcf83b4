/* SPDX-License-Identifier: GPL-2.0-only */
/* What the protocols of AF_RTIPC share: ports, labels, times. The lock guards all of it. */
#ifndef COBALT_IPC_H
#define COBALT_IPC_H

#include <rtdm/ipc.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "file.h"
#include "primary/box.h"
#include "primary/buffer.h"
#include "primary/name.h"
#include "primary/pipe.h"

/* Ports of each protocol. */
#define IPC_PORTS 32

struct socket;

/* What a protocol does. Results are a number, or the negative number of an error. */
struct protocol {
	/* The level of its options, and what the kinds of memory are called there. */
	int level;
	int pool_option;
	int buffer_option;
	/* Prepares a socket for its port, or for one that it chooses if that is -1. */
	int (*bind)(struct socket *socket);
	/* Sends to a port, or to -1: to whom the socket is connected. */
	ssize_t (*send)(struct socket *socket, const struct msghdr *message, size_t size, int flags, int port);
	ssize_t (*receive)(struct socket *socket, const struct msghdr *message, size_t size, int flags, int *port);
	unsigned int (*events)(struct socket *socket);
	/* Wakes those that wait. */
	void (*closes)(struct socket *socket);
	/* Frees what it has. */
	void (*ends)(struct socket *socket);
	struct socket *ports[IPC_PORTS];
};

struct socket {
	struct primary_file file;
	struct protocol *protocol;
	/* -1: none. */
	int port;
	int peer;
	bool is_bound;
	char label[RTIPC_LABEL_LEN];
	struct primary_name name;
	/* Nanoseconds that it waits at most; 0: however long it takes. */
	int64_t receive_ns;
	int64_t send_ns;
	size_t pool_size;
	size_t buffer_size;
	struct primary_heap *heap;
	/* Of IDDP and XDDP. */
	struct primary_box box;
	struct primary_queue senders;
	struct primary_pipe *pipe;
	/* Of BUFP. */
	struct primary_buffer buffer;
};

extern struct protocol cobalt_xddp, cobalt_iddp, cobalt_bufp;

/* When an operation with these flags ends. */
struct primary_end ipc_end(const struct socket *socket, int flags, int64_t ns);
/* The socket at a port of the same protocol. Returns 0 or an error. */
int ipc_peer(struct socket *socket, int port, struct socket **peer);
/* Copies between a flat text and the pieces of a message. */
void ipc_gather(void *to, const struct msghdr *message, size_t size);
void ipc_scatter(const struct msghdr *message, const void *from, size_t size);
/* The heap for a socket's messages: its own, or the process's. */
struct primary_heap *ipc_heap(struct socket *socket);

/* What datagrams have in common: takes one from the box, and as much of it as there is room for. */
ssize_t ipc_receive(struct socket *socket, const struct msghdr *message, size_t size, int flags, int *port);

#endif
