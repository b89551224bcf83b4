/* Data of Linux processes. */
#ifndef ASM_SEGMENT_H
#define ASM_SEGMENT_H

#include <asm/uaccess.h>

#endif
