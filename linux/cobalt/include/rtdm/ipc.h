/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sockets between real-time threads, and from them to Linux: XDDP (datagrams, /dev/rtpN on Linux's
 * side), IDDP (datagrams), BUFP (a stream of bytes).
 */
#ifndef _RTDM_IPC_H
#define _RTDM_IPC_H

#include <rtdm/rtdm.h>

#ifndef AF_RTIPC
#define AF_RTIPC 111
#endif
#ifndef PF_RTIPC
#define PF_RTIPC AF_RTIPC
#endif

enum {
	/* The default: IDDP. */
	IPCPROTO_IPC = 0,
	IPCPROTO_XDDP = 1,
	IPCPROTO_IDDP = 2,
	IPCPROTO_BUFP = 3,
	IPCPROTO_MAX
};

typedef int16_t rtipc_port_t;

/* Port -1: any that is free; or, to connect, that of the label. */
struct sockaddr_ipc {
	sa_family_t sipc_family;
	rtipc_port_t sipc_port;
};

#define XDDP_LABEL_LEN 32
#define IDDP_LABEL_LEN 32
#define BUFP_LABEL_LEN 32
#define RTIPC_LABEL_LEN 32

struct rtipc_port_label {
	char label[RTIPC_LABEL_LEN];
};

#define SOL_XDDP 311
#define XDDP_LABEL 1
#define XDDP_POOLSZ 2
#define XDDP_BUFSZ 3
#define XDDP_MONITOR 4
/* Events of XDDP_MONITOR: input from Linux, output to it, its file was closed, no memory. */
#define XDDP_EVTIN 1
#define XDDP_EVTOUT 2
#define XDDP_EVTDOWN 3
#define XDDP_EVTNOBUF 4

#define SOL_IDDP 312
#define IDDP_LABEL 1
#define IDDP_POOLSZ 2

#define SOL_BUFP 313
#define BUFP_LABEL 1
#define BUFP_BUFSZ 2

#endif
