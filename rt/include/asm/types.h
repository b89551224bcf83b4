/* Integer types. */
#ifndef ASM_TYPES_H
#define ASM_TYPES_H

#include <linux/types.h>

#endif
