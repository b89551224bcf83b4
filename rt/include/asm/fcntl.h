/* As <fcntl.h>. */
#ifndef ASM_FCNTL_H
#define ASM_FCNTL_H

#include <linux/fcntl.h>

#endif
