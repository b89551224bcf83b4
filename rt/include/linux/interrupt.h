/* Interrupts of Linux. A task's own are RTLinux's: see rtl_request_irq. */
#ifndef LINUX_INTERRUPT_H
#define LINUX_INTERRUPT_H

#include <asm/ptrace.h>
#include <asm/irq.h>
#include <asm/bitops.h>

#endif
