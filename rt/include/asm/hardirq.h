/* As <linux/interrupt.h>. */
#ifndef ASM_HARDIRQ_H
#define ASM_HARDIRQ_H

#include <linux/interrupt.h>

#endif
