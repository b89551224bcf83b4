/* As <linux/types.h>. */
#ifndef LINUX_KDEV_T_H
#define LINUX_KDEV_T_H

#include <linux/types.h>

#endif
