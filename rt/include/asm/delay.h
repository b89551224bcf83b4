/* Busy waits. */
#ifndef ASM_DELAY_H
#define ASM_DELAY_H

#include <linux/delay.h>

#endif
