/*
 * Switching interrupts off keeps the task's other threads out, more urgent ones too, until
 * interrupts are on again or the thread waits. Software interrupts run on the main thread. A line
 * that the system file does not give to the task is refused.
 *
 * prints: off: the urgent thread ran 0 times, on again: 1
 * prints: nested: still off 1
 * prints: spin lock: 0, then 1
 * prints: waits with interrupts off: 1, still off 1
 * prints: line 9 is not this task's: ...
 * prints: a line of somebody else's: -16
 * prints: processors: 0 1 0 1
 * prints: software interrupt 224 on the main thread
 * prints: refused: -16 after 31 more
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

static pthread_t urgent, slow;
static volatile int runs;
static int number;

static void *wakes(void *x)
{
	struct sched_param high = { 50 };

	pthread_setschedparam(pthread_self(), 0, &high);
	for (;;) {
		pthread_suspend_np(pthread_self());
		runs++;
	}
	return x;
}

static unsigned int handler(unsigned int irq, struct pt_regs *regs) { return 0; }

static int wake(void)
{
	runs = 0;
	pthread_wakeup_np(urgent);
	rtl_delay(100000);
	return runs;
}

static void soft(int irq, void *device, struct pt_regs *regs)
{
	int more = 0;

	rtl_printf("software interrupt %d %s\n", irq, pthread_self() == pthread_linux() ? "on the main thread" : "elsewhere");
	while (rtl_get_soft_irq(soft, "more") > 0)
		more++;
	rtl_printf("refused: %d after %d more\n", rtl_get_soft_irq(soft, "more"), more);
	pillion_unload();
}

static void *work(void *x)
{
	rtl_irqstate_t state, inner;
	spinlock_t lock = SPIN_LOCK_UNLOCKED;
	int a;

	rtl_no_interrupts(state);
	a = wake();
	rtl_restore_interrupts(state);
	rtl_printf("off: the urgent thread ran %d times, on again: %d\n", a, runs);
	rtl_no_interrupts(state);
	rtl_no_interrupts(inner);
	rtl_restore_interrupts(inner);
	a = wake();
	rtl_printf("nested: still off %d\n", a == 0);
	rtl_restore_interrupts(state);
	rtl_spin_lock(&lock);
	a = wake();
	rtl_spin_unlock(&lock);
	rtl_printf("spin lock: %d, then %d\n", a, runs);
	rtl_no_interrupts(state);
	wake();
	usleep(100);
	a = runs;
	rtl_printf("waits with interrupts off: %d, still off %d\n", a, wake() == 0);
	rtl_restore_interrupts(state);
	rtl_printf("a line of somebody else's: %d\n", rtl_request_irq(9, handler));
	rtl_printf("processors: %d %d %d %d\n", rtl_getcpuid(), rtl_cpu_exists(0), rtl_cpu_exists(1), rtl_num_cpus());
	rtl_global_pend_irq(number);
	return x;
}

int init_module(void)
{
	number = rtl_get_soft_irq(soft, "test");
	pthread_create(&urgent, NULL, wakes, NULL);
	return pthread_create(&slow, NULL, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(urgent);
	pthread_join(slow, NULL);
}
