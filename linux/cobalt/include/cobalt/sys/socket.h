/* SPDX-License-Identifier: GPL-2.0-only */
#pragma GCC system_header
#include_next <sys/socket.h>

#ifndef _COBALT_SYS_SOCKET_H
#define _COBALT_SYS_SOCKET_H

#include <cobalt/wrappers.h>

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, socket(int family, int type, int protocol));
COBALT_DECL(ssize_t, recvmsg(int file, struct msghdr *message, int flags));
COBALT_DECL(ssize_t, sendmsg(int file, const struct msghdr *message, int flags));
COBALT_DECL(ssize_t, recvfrom(int file, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *length));
COBALT_DECL(ssize_t, sendto(int file, const void *buffer, size_t size, int flags, const struct sockaddr *to,
			    socklen_t length));
COBALT_DECL(ssize_t, recv(int file, void *buffer, size_t size, int flags));
COBALT_DECL(ssize_t, send(int file, const void *buffer, size_t size, int flags));
COBALT_DECL(int, getsockopt(int file, int level, int option, void *value, socklen_t *length));
COBALT_DECL(int, setsockopt(int file, int level, int option, const void *value, socklen_t length));
COBALT_DECL(int, bind(int file, const struct sockaddr *address, socklen_t length));
COBALT_DECL(int, connect(int file, const struct sockaddr *address, socklen_t length));
COBALT_DECL(int, listen(int file, int backlog));
COBALT_DECL(int, accept(int file, struct sockaddr *address, socklen_t *length));
COBALT_DECL(int, getsockname(int file, struct sockaddr *address, socklen_t *length));
COBALT_DECL(int, getpeername(int file, struct sockaddr *address, socklen_t *length));
COBALT_DECL(int, shutdown(int file, int how));

#ifdef __cplusplus
}
#endif

#endif
