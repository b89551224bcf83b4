/* Compiler hints. */
#ifndef LINUX_COMPILER_H
#define LINUX_COMPILER_H

#ifndef likely
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif
#ifndef barrier
#define barrier() __asm__ __volatile__("" : : : "memory")
#endif
#ifndef __user
#define __user
#define __iomem
#endif

#endif
