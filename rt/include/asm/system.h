/* Interrupt control, barriers, exchange. With interrupts off, nothing else of this task runs. */
#ifndef ASM_SYSTEM_H
#define ASM_SYSTEM_H

#include <rtl_sync.h>

#ifdef __cplusplus
extern "C" {
#endif

#define cli() rtl_stop_interrupts()
#define sti() rtl_allow_interrupts()
#define save_flags(flags) ((flags) = (unsigned long)rtl_irqs_enabled())
#define restore_flags(flags) rtl_irq_restore(flags)
#define save_and_cli(flags) do { save_flags(flags); cli(); } while (0)
#define __cli cli
#define __sti sti
#define __save_flags(flags) save_flags(flags)
#define __restore_flags(flags) restore_flags(flags)
#define local_irq_disable() cli()
#define local_irq_enable() sti()
#define local_irq_save(flags) save_and_cli(flags)
#define local_irq_restore(flags) restore_flags(flags)

#define mb() __asm__ __volatile__("mfence" : : : "memory")
#define rmb() __asm__ __volatile__("lfence" : : : "memory")
#define wmb() __asm__ __volatile__("sfence" : : : "memory")
#define smp_mb() mb()
#define smp_rmb() rmb()
#define smp_wmb() wmb()
#ifndef barrier
#define barrier() __asm__ __volatile__("" : : : "memory")
#endif

#define xchg(pointer, value) __atomic_exchange_n((pointer), (value), __ATOMIC_SEQ_CST)
#define nop() __asm__ __volatile__("nop")

#ifdef __cplusplus
}
#endif

#endif
