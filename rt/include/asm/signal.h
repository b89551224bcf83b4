/* As <signal.h>. */
#ifndef ASM_SIGNAL_H
#define ASM_SIGNAL_H

#include <signal.h>

#endif
