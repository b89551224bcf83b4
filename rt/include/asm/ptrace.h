/* Registers at an interrupt. Handlers get NULL: nothing of the interrupted thread is shown. */
#ifndef ASM_PTRACE_H
#define ASM_PTRACE_H

struct pt_regs;

#endif
