/* Spin locks. */
#ifndef ASM_SPINLOCK_H
#define ASM_SPINLOCK_H

#include <rtl_sync.h>

#endif
