/* SPDX-License-Identifier: GPL-2.0-only */
/* What programs use of the real-time driver model. There are no drivers but that of ipc.h. */
#ifndef _RTDM_RTDM_H
#define _RTDM_RTDM_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#define RTDM_API_VERSION 10
#define RTDM_MAX_DEVNAME_LEN 31

#define RTDM_CLASS_PARPORT 1
#define RTDM_CLASS_SERIAL 2
#define RTDM_CLASS_CAN 3
#define RTDM_CLASS_NETWORK 4
#define RTDM_CLASS_RTMAC 5
#define RTDM_CLASS_TESTING 6
#define RTDM_CLASS_RTIPC 7
#define RTDM_CLASS_COBALT 8
#define RTDM_CLASS_UDD 9
#define RTDM_CLASS_MEMORY 10
#define RTDM_CLASS_GPIO 11
#define RTDM_CLASS_SPI 12
#define RTDM_CLASS_PWM 13
#define RTDM_CLASS_MISC 223
#define RTDM_CLASS_EXPERIMENTAL 224
#define RTDM_CLASS_MAX 255
#define RTDM_SUBCLASS_GENERIC (-1)

/* Times, and lengths of time, in nanoseconds. */
typedef uint64_t nanosecs_abs_t;
typedef int64_t nanosecs_rel_t;

#define RTDM_TIMEOUT_INFINITE 0
#define RTDM_TIMEOUT_NONE (-1)

typedef struct rtdm_device_info {
	int device_flags;
	int device_class;
	int device_sub_class;
	int profile_version;
} rtdm_device_info_t;

#define RTIOC_TYPE_COMMON 0
#define RTIOC_DEVICE_INFO _IOR(RTIOC_TYPE_COMMON, 0x00, struct rtdm_device_info)
#define RTIOC_PURGE _IOW(RTIOC_TYPE_COMMON, 0x10, int)
#define RTDM_PURGE_RX_BUFFER 0x0001
#define RTDM_PURGE_TX_BUFFER 0x0002

/* The names of version 2, whose results are the negative number of an error. */
#define __rt_dev_result(call)                                   \
	__extension__({                                         \
		long __rt_dev = (call);                         \
		__rt_dev < 0 ? -errno : __rt_dev;               \
	})
#define rt_dev_open(...) __rt_dev_result(__RT(open(__VA_ARGS__)))
#define rt_dev_close(file) __rt_dev_result(__RT(close(file)))
#define rt_dev_read(file, buffer, size) __rt_dev_result(__RT(read(file, buffer, size)))
#define rt_dev_write(file, buffer, size) __rt_dev_result(__RT(write(file, buffer, size)))
#define rt_dev_ioctl(file, ...) __rt_dev_result(__RT(ioctl(file, __VA_ARGS__)))
#define rt_dev_socket(family, type, protocol) __rt_dev_result(__RT(socket(family, type, protocol)))
#define rt_dev_bind(file, address, length) __rt_dev_result(__RT(bind(file, address, length)))
#define rt_dev_connect(file, address, length) __rt_dev_result(__RT(connect(file, address, length)))
#define rt_dev_listen(file, backlog) __rt_dev_result(__RT(listen(file, backlog)))
#define rt_dev_accept(file, address, length) __rt_dev_result(__RT(accept(file, address, length)))
#define rt_dev_shutdown(file, how) __rt_dev_result(__RT(shutdown(file, how)))
#define rt_dev_send(file, buffer, size, flags) __rt_dev_result(__RT(send(file, buffer, size, flags)))
#define rt_dev_sendto(file, buffer, size, flags, to, length) \
	__rt_dev_result(__RT(sendto(file, buffer, size, flags, to, length)))
#define rt_dev_sendmsg(file, message, flags) __rt_dev_result(__RT(sendmsg(file, message, flags)))
#define rt_dev_recv(file, buffer, size, flags) __rt_dev_result(__RT(recv(file, buffer, size, flags)))
#define rt_dev_recvfrom(file, buffer, size, flags, from, length) \
	__rt_dev_result(__RT(recvfrom(file, buffer, size, flags, from, length)))
#define rt_dev_recvmsg(file, message, flags) __rt_dev_result(__RT(recvmsg(file, message, flags)))
#define rt_dev_getsockopt(file, level, option, value, length) \
	__rt_dev_result(__RT(getsockopt(file, level, option, value, length)))
#define rt_dev_setsockopt(file, level, option, value, length) \
	__rt_dev_result(__RT(setsockopt(file, level, option, value, length)))
#define rt_dev_getsockname(file, address, length) __rt_dev_result(__RT(getsockname(file, address, length)))
#define rt_dev_getpeername(file, address, length) __rt_dev_result(__RT(getpeername(file, address, length)))

#endif
