/* As <linux/string.h>. */
#ifndef ASM_STRING_H
#define ASM_STRING_H

#include <linux/string.h>

#endif
