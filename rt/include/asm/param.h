/* The tick. */
#ifndef ASM_PARAM_H
#define ASM_PARAM_H

#include <linux/config.h>

#endif
