/* As <linux/sched.h>. */
#ifndef ASM_CURRENT_H
#define ASM_CURRENT_H

#include <linux/sched.h>

#endif
