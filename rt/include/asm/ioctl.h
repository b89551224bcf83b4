/* Command numbers. */
#ifndef ASM_IOCTL_H
#define ASM_IOCTL_H

#include <linux/ioctl.h>

#endif
