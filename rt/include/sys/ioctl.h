/* Device control. */
#ifndef PILLION_SYS_IOCTL_H
#define PILLION_SYS_IOCTL_H

#include <linux/ioctl.h>

#ifdef __cplusplus
extern "C" {
#endif

int ioctl(int descriptor, int request, ...);

#ifdef __cplusplus
}
#endif

#endif
