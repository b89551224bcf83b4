/* interrupt by sigaction; soft irq; spinlocks */
#include <rtl.h>
#include <signal.h>
#include <rtl_sched.h>
#include <rtl_sync.h>
#include <asm/system.h>
#include <linux/interrupt.h>
#define IRQ 7
#define LPT 0x378
static volatile int signal_count, state, pause;
static spinlock_t mylock = SPIN_LOCK_UNLOCKED;
static rtl_spinlock_t other;
static int soft;
static pthread_t waiter;

void intr_handler(int sig)
{
	unsigned long flags;
	rtl_spin_lock_irqsave(&mylock, flags);
	signal_count++;
	rtl_spin_unlock_irqrestore(&mylock, flags);
	pthread_wakeup_np(waiter);
	rtl_global_pend_irq(soft);
	rtl_hard_enable_irq(IRQ);
}
unsigned int hard(unsigned int irq, struct pt_regs *regs) { rtl_hard_enable_irq(irq); return 0; }
void soft_handler(int irq, void *dev, struct pt_regs *regs) { printk("soft %d\n", irq); }
void *wait_code(void *x)
{
	rtl_irqstate_t irqs;
	struct sched_param p;
	pthread_getschedparam(pthread_self(), NULL, &p);
	p.sched_priority = sched_get_priority_max(SCHED_FIFO) - 1;
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &p);
	while (1) {
		rtl_no_interrupts(irqs);
		while (!signal_count)
			pthread_suspend_np(pthread_self());
		signal_count--;
		rtl_restore_interrupts(irqs);
		outb(0xff, LPT); rtl_delay(5000); outb(0, LPT);
		state = inb(LPT + 1);
	}
}
int init_module(void)
{
	struct sigaction sa;
	sa.sa_handler = intr_handler;
	sa.sa_flags = SA_FOCUS;
	sa.sa_focus = 1;
	rtl_spin_lock_init(&other);
	if ((soft = rtl_get_soft_irq(soft_handler, "mine")) < 0) return soft;
	pthread_create(&waiter, NULL, wait_code, 0);
	if (sigaction(RTL_SIGIRQMIN + IRQ, &sa, NULL) < 0) { rtl_free_soft_irq(soft); return -errno; }
	if (rtl_request_irq(5, hard) != 0) printk("no irq 5\n");
	outb_p(inb_p(LPT + 2) | 0x10, LPT + 2);
	rtl_hard_enable_irq(IRQ);
	return 0;
}
void cleanup_module(void)
{
	struct sigaction sa;
	sa.sa_handler = SIG_DFL;
	sigaction(RTL_SIGIRQMIN + IRQ, &sa, NULL);
	rtl_free_irq(5);
	rtl_free_soft_irq(soft);
	pthread_cancel(waiter); pthread_join(waiter, NULL);
}
