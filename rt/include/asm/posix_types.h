/* As <linux/types.h>. */
#ifndef ASM_POSIX_TYPES_H
#define ASM_POSIX_TYPES_H

#include <linux/types.h>

#endif
