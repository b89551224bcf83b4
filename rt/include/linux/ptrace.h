/* Registers. */
#ifndef LINUX_PTRACE_H
#define LINUX_PTRACE_H

#include <asm/ptrace.h>

#endif
