/* As <linux/types.h>. */
#ifndef LINUX_POSIX_TYPES_H
#define LINUX_POSIX_TYPES_H

#include <linux/types.h>

#endif
