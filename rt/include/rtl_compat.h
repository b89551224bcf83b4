/* RTLinux's first interface. Smaller priorities are more urgent; time is in ticks of the 8254. */
#ifndef RTL_COMPAT_H
#define RTL_COMPAT_H

#include <rtl_conf.h>
#include <rtl_core.h>
#include <rtl_sched.h>
#include <rtl_sync.h>
#include <rtl_time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RT_TICKS_PER_SEC 1193180
#define RT_TIME_END ((RTIME)0x7fffffffffffffffLL)
#define RT_LOWEST_PRIORITY 1000000
#define RT_HIGHEST_PRIORITY 0

typedef pthread_t RT_TASK;
typedef long long RTIME;

/* Creates a suspended task, which runs once made periodic or woken. Priority 0 is the highest. */
int rt_task_init(RT_TASK *task, void (*function)(int), int argument, int stack_size, int priority);
int rt_task_delete(RT_TASK *task);
int rt_task_make_periodic(RT_TASK *task, RTIME start, RTIME period);
int rt_task_wait(void);
int rt_task_suspend(RT_TASK *task);
int rt_task_wakeup(RT_TASK *task);
int rt_use_fp(int allow);
int rt_task_use_fp(RT_TASK *task, int allow);

RTIME rt_get_time(void);
int rt_set_oneshot_mode(void);
int rt_set_periodic_mode(RTIME period);
#define rtl_set_oneshot_mode rt_set_oneshot_mode
#define rtl_set_periodic_mode rt_set_periodic_mode

int request_RTirq(unsigned int irq, void (*handler)(void));
int free_RTirq(unsigned int irq);

#define r_cli() rtl_stop_interrupts()
#define r_sti() rtl_allow_interrupts()
#define r_save_flags(flags) ((flags) = (unsigned long)rtl_irqs_enabled())
#define r_restore_flags(flags) rtl_irq_restore(flags)

#ifdef __cplusplus
}
#endif

#endif
