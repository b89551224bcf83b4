/* SPDX-License-Identifier: GPL-2.0-only */
/* Input and output in primary mode, of EVL's descriptors. They set errno. */
#ifndef _EVL_SYSCALL_H
#define _EVL_SYSCALL_H

#include <evl/factory.h>

#ifdef __cplusplus
extern "C" {
#endif

ssize_t oob_read(int efd, void *buffer, size_t size);
ssize_t oob_write(int efd, const void *buffer, size_t size);
/* No kind of descriptor has requests: ENOTTY. */
int oob_ioctl(int efd, unsigned long request, ...);

#ifdef __cplusplus
}
#endif

#endif
