/* Registers at an interrupt. Handlers get NULL: the interrupted registers are not shown. */
#ifndef ASM_PTRACE_H
#define ASM_PTRACE_H

struct pt_regs;

#endif
