// SPDX-License-Identifier: GPL-2.0-only
/* IDDP and BUFP between threads. */
#include <rtdm/ipc.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "../check.h"

#define SERVER 12

static void *serves(void *nothing)
{
	struct sockaddr_ipc address = { AF_RTIPC, SERVER }, from;
	socklen_t length = sizeof(from);
	size_t pool = 32768;
	int file = socket(AF_RTIPC, SOCK_DGRAM, IPCPROTO_IDDP), i;
	char text[32];
	ssize_t size;

	check(file >= 0 && !setsockopt(file, SOL_IDDP, IDDP_POOLSZ, &pool, sizeof(pool)));
	check(!bind(file, (struct sockaddr *)&address, sizeof(address)));
	for (i = 0; i < 10; i++) {
		size = recvfrom(file, text, sizeof(text), 0, (struct sockaddr *)&from, &length);
		check(size > 0 && from.sipc_family == AF_RTIPC);
		text[0] = 'R';
		check(sendto(file, text, size, 0, (struct sockaddr *)&from, length) == size);
	}
	check(!close(file));
	return nothing;
}

static void *asks(void *nothing)
{
	struct sockaddr_ipc any = { AF_RTIPC, -1 }, server = { AF_RTIPC, SERVER }, told;
	struct timeval moment = { 0, 2000 };
	socklen_t length = sizeof(told);
	int file = socket(AF_RTIPC, SOCK_DGRAM, IPCPROTO_IDDP), i;
	char text[32];

	check(!bind(file, (struct sockaddr *)&any, sizeof(any)));
	check(!getsockname(file, (struct sockaddr *)&told, &length) && told.sipc_port >= 0 && told.sipc_port != SERVER);
	check(write(file, "x", 1) == -1 && errno == EDESTADDRREQ);
	check(!connect(file, (struct sockaddr *)&server, sizeof(server)));
	check(!getpeername(file, (struct sockaddr *)&told, &length) && told.sipc_port == SERVER);
	for (i = 0; i < 10; i++) {
		sprintf(text, "request %d", i);
		check(write(file, text, strlen(text) + 1) == (ssize_t)strlen(text) + 1);
		check(read(file, text, sizeof(text)) == 10 && text[0] == 'R');
	}
	check(!setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof(moment)));
	check(recv(file, text, sizeof(text), 0) == -1 && errno == ETIMEDOUT);
	check(recv(file, text, sizeof(text), MSG_DONTWAIT) == -1 && errno == EAGAIN);
	check(!close(file));
	printf("ok iddp\n");
	return nothing;
}

static int reader_of_stream(void)
{
	struct rtipc_port_label label = { "stream" };
	struct sockaddr_ipc any = { AF_RTIPC, -1 };
	size_t size = 64;
	int file = socket(AF_RTIPC, SOCK_DGRAM, IPCPROTO_BUFP);

	check(file >= 0 && bind(file, (struct sockaddr *)&any, sizeof(any)) == -1);
	check(!setsockopt(file, SOL_BUFP, BUFP_BUFSZ, &size, sizeof(size)));
	check(!setsockopt(file, SOL_BUFP, BUFP_LABEL, &label, sizeof(label)));
	check(!bind(file, (struct sockaddr *)&any, sizeof(any)));
	return file;
}

static void *writes(void *nothing)
{
	struct rtipc_port_label label = { "stream" };
	struct sockaddr_ipc any = { AF_RTIPC, -1 };
	int file = socket(AF_RTIPC, SOCK_DGRAM, IPCPROTO_BUFP), i;
	char text[16];

	check(!setsockopt(file, SOL_BUFP, BUFP_LABEL, &label, sizeof(label)));
	check(!connect(file, (struct sockaddr *)&any, sizeof(any)));
	for (i = 0; i < 100; i++) {
		sprintf(text, "%07d", i);
		check(write(file, text, 8) == 8);
	}
	check(!close(file));
	return nothing;
}

static void *reads(void *nothing)
{
	pthread_t writer = start(40, writes, NULL);
	int file, i;
	char text[128];
	fd_set set;

	rest(MS);
	file = reader_of_stream();
	for (i = 0; i < 50; i++)
		check(read(file, text, 16) == 16 && atoi(text) == 2 * i && atoi(text + 8) == 2 * i + 1);
	pthread_join(writer, NULL);
	check(read(file, text, 100) == -1 && errno == EINVAL);
	FD_ZERO(&set);
	FD_SET(file, &set);
	check(select(file + 1, &set, NULL, NULL, &(struct timeval){ 0, 1000 }) == 0);
	check(!close(file));
	printf("ok bufp\n");
	return nothing;
}

/* Messages in pieces, and what datagrams do not have. */
static void *pieces(void *nothing)
{
	struct sockaddr_ipc address = { AF_RTIPC, 5 }, from = { 0, 0 };
	char head[4], body[16], text[32];
	struct iovec out[2] = { { "head", 4 }, { "and body", 9 } }, in[2] = { { head, sizeof(head) }, { body, sizeof(body) } };
	struct msghdr sent = { .msg_iov = out, .msg_iovlen = 2, .msg_name = &address, .msg_namelen = sizeof(address) };
	struct msghdr received = { .msg_iov = in, .msg_iovlen = 2, .msg_name = &from, .msg_namelen = sizeof(from) };
	struct timeval time = { 1, 500000 }, told;
	struct rtipc_port_label label = { "pieces" }, found;
	socklen_t length = sizeof(told);
	size_t pool = 16384;
	int file = socket(AF_RTIPC, SOCK_DGRAM, IPCPROTO_IDDP);

	check(file >= 0 && !setsockopt(file, SOL_IDDP, IDDP_POOLSZ, &pool, sizeof(pool)));
	check(!setsockopt(file, SOL_IDDP, IDDP_LABEL, &label, sizeof(label)));
	check(!bind(file, (struct sockaddr *)&address, sizeof(address)));
	check(bind(file, (struct sockaddr *)&address, sizeof(address)) == -1 && errno == EADDRINUSE);
	check(sendmsg(file, &sent, 0) == 13 && recvmsg(file, &received, 0) == 13);
	check(!memcmp(head, "head", 4) && !strcmp(body, "and body") && from.sipc_family == AF_RTIPC && from.sipc_port == 5);
	check(received.msg_namelen == sizeof(from) && !received.msg_flags && !received.msg_controllen);
	check(recvmsg(file, &received, MSG_DONTWAIT) == -1 && errno == EAGAIN);
	received.msg_namelen = 1;
	check(recvmsg(file, &received, 0) == -1 && errno == EINVAL);
	sent.msg_namelen = 1;
	check(sendmsg(file, &sent, 0) == -1 && errno == EINVAL);
	sent.msg_namelen = sizeof(address);
	address.sipc_port = 6;
	check(sendmsg(file, &sent, 0) == -1 && errno == ECONNREFUSED);
	check(listen(file, 1) == -1 && errno == EOPNOTSUPP && accept(file, NULL, NULL) == -1 && errno == EOPNOTSUPP);
	check(shutdown(file, SHUT_RDWR) == -1 && errno == ENOTCONN);
	check(!setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)));
	check(!getsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &told, &length) && told.tv_sec == 1 && told.tv_usec == 500000);
	check(setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &time, 1) == -1 && errno == EINVAL);
	length = sizeof(found);
	check(!getsockopt(file, SOL_IDDP, IDDP_LABEL, &found, &length) && !strcmp(found.label, "pieces"));
	check(getsockopt(file, SOL_XDDP, XDDP_LABEL, &found, &length) == -1 && errno == ENOPROTOOPT);
	check(!close(file) && recv(file, text, sizeof(text), 0) == -1 && errno == EBADF);
	check(listen(file, 1) == -1 && errno == EBADF && shutdown(file, SHUT_RD) == -1 && errno == EBADF);
	printf("ok messages in pieces\n");
	return nothing;
}

int main(void)
{
	pthread_t server = start(60, serves, NULL);

	rest(MS);
	pthread_join(start(50, asks, NULL), NULL);
	pthread_join(server, NULL);
	pthread_join(start(50, reads, NULL), NULL);
	pthread_join(start(50, pieces, NULL), NULL);
	check(socket(AF_RTIPC, SOCK_DGRAM, 99) == -1 && errno == EPROTONOSUPPORT);
	return 0;
}
