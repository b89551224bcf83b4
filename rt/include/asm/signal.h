/* As <rtl_signal.h>. */
#ifndef ASM_SIGNAL_H
#define ASM_SIGNAL_H

#include <rtl_signal.h>

#endif
