/* Control. */
#ifndef LINUX_IOCTL_H
#define LINUX_IOCTL_H

#include <sys/ioctl.h>

#endif
