/* Atomics. */
#ifndef LINUX_ATOMIC_H
#define LINUX_ATOMIC_H

#include <asm/atomic.h>

#endif
