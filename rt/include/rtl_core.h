/*
 * Interrupts. Handlers run with interrupts off, in a thread of their own that is more urgent than
 * all of the program's threads.
 */
#ifndef RTL_CORE_H
#define RTL_CORE_H

#include <rtl_conf.h>
#include <rtl_printf.h>
#include <rtl_sync.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pt_regs;

/* Handlers get NULL for the registers. A line that fired is masked until rtl_hard_enable_irq. */
int rtl_request_irq(unsigned int irq, unsigned int (*handler)(unsigned int irq, struct pt_regs *regs));
int rtl_free_irq(unsigned int irq);
#define rtl_request_global_irq(irq, handler) rtl_request_irq(irq, handler)
#define rtl_free_global_irq(irq) rtl_free_irq(irq)
void rtl_hard_enable_irq(unsigned int irq);
void rtl_hard_disable_irq(unsigned int irq);
int rtl_irq_set_affinity(unsigned int irq, const unsigned long *mask, unsigned long *old);

/* Simulates a Linux interrupt, or raises a software interrupt. */
void rtl_global_pend_irq(int irq);
/* Allocates the number of a software interrupt; its handler runs on the main thread. */
int rtl_get_soft_irq(void (*handler)(int irq, void *device, struct pt_regs *regs), const char *name);
void rtl_free_soft_irq(unsigned int irq);

/*
 * Interrupts of one of the task's processors; handlers run there. Its timer is CLOCK_APIC as its
 * threads set it; its messages are what rtl_reschedule sends it.
 */
#define LOCAL_TIMER_VECTOR 0xef
#define RTL_RESCHEDULE_VECTOR 0xee
int rtl_request_local_irq(int vector, unsigned int (*handler)(struct pt_regs *regs), unsigned int cpu);
int rtl_free_local_irq(int vector, unsigned int cpu);
int rtl_request_ipi(unsigned int (*handler)(struct pt_regs *regs), int cpu);
int rtl_free_ipi(int cpu);
void rtl_reschedule(unsigned int cpu);

unsigned int rtl_getcpuid(void);
int rtl_cpu_exists(int cpu);
int rtl_num_cpus(void);
int rtl_reserve_cpus(unsigned int mask);
int rtl_unreserve_cpus(void);

#ifdef __cplusplus
}
#endif

#endif
