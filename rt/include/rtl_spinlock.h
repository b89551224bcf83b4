/* As <rtl_sync.h>. */
#ifndef RTL_SPINLOCK_H
#define RTL_SPINLOCK_H

#include <rtl_sync.h>

#endif
