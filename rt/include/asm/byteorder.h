/* As <linux/byteorder.h>. */
#ifndef ASM_BYTEORDER_H
#define ASM_BYTEORDER_H

#include <linux/byteorder.h>

#endif
