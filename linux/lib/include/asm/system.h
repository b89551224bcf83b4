/* SPDX-License-Identifier: GPL-2.0-only */
/* Barriers and exchange. */
#ifndef ASM_SYSTEM_H
#define ASM_SYSTEM_H

#define mb() __asm__ __volatile__("mfence" : : : "memory")
#define rmb() __asm__ __volatile__("lfence" : : : "memory")
#define wmb() __asm__ __volatile__("sfence" : : : "memory")
#define barrier() __asm__ __volatile__("" : : : "memory")
#define xchg(pointer, value) __atomic_exchange_n((pointer), (value), __ATOMIC_SEQ_CST)
#define nop() __asm__ __volatile__("nop")

#endif
