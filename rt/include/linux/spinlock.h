/* Spin locks: RTLinux's. */
#ifndef LINUX_SPINLOCK_H
#define LINUX_SPINLOCK_H

#include <rtl_sync.h>

#endif
