/*
 * Interrupts of one processor. A message runs the handler of the processor that it is sent to, on
 * that processor and with interrupts off; from a handler, too. Each processor has a timer of its
 * own. A processor that the task has not, and other vectors, are refused.
 *
 * run: --cpus 2
 * task: cpus = [0, 1]
 * task: threads = 12
 * prints: refused: -22 -22 -22 -22, freed -22 -22 0
 * prints: to 1: 100 taken, there 100, with interrupts off 100
 * prints: to itself: 5 taken before the sender goes on, there 5
 * prints: to and fro: 200, there 200
 * prints: 3 at once: 1 taken
 * prints: replaced: 0 and 1, freed: 0
 * prints: a pending wake-up: not yet 0, then 1
 * prints: timers: 5 there 5, and 3 there 3; freed: 0
 * prints: set from processor 1: the chip's timer 1, signals 1
 * limit: 500
 */
#include <rtl.h>
#include <rtl_core.h>
#include <rtl_sched.h>
#include <rtl_sync.h>
#include <rtl_time.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <asm/bitops.h>
#include <pillion.h>
#include "with/processors.h"

static sem_t taken, done;
static pthread_t sleeper;
static unsigned int first_apic_id;
static volatile int count, there, off, others, rounds, woken, early;
static volatile int ticks[2], ticks_there[2];

/* The processor's number, as the task's and as it says itself: 0 or 1, or -1 if they differ. */
static int here(void)
{
	return (apic_id() != first_apic_id) == rtl_getcpuid() ? (int)rtl_getcpuid() : -1;
}

static int is_off(void)
{
	rtl_irqstate_t flags;
	int was_on;

	rtl_no_interrupts(flags);
	was_on = flags != 0;
	rtl_restore_interrupts(flags);
	return !was_on;
}

static unsigned int on_1(struct pt_regs *regs)
{
	count++;
	there += here() == 1;
	off += is_off();
	sem_post(&taken);
	return 0;
}

static unsigned int on_0(struct pt_regs *regs)
{
	count++;
	there += here() == 0;
	return 0;
}

static unsigned int other(struct pt_regs *regs)
{
	others++;
	return 0;
}

/* Two handlers that send each other a message. */
static unsigned int fro(struct pt_regs *regs)
{
	there += here() == 1;
	rounds++;
	rtl_reschedule(0);
	return 0;
}

static unsigned int to(struct pt_regs *regs)
{
	there += here() == 0;
	if (++rounds < 200)
		rtl_reschedule(1);
	else
		sem_post(&taken);
	return 0;
}

static unsigned int local_tick(struct pt_regs *regs)
{
	ticks[1]++;
	ticks_there[1] += here() == 1;
	return 0;
}

static void clock_tick(struct pt_regs *regs)
{
	ticks[0]++;
	ticks_there[0] += here() == 0;
	if (ticks[0] < 5)
		CLOCK_APIC->settimer(CLOCK_APIC, 1000000);
}

static void *sleep_until_woken(void *unused)
{
	sem_post(&done);
	pthread_suspend_np(pthread_self());
	woken = 1;
	sem_post(&done);
	return NULL;
}

/* Sets the timer of processor 1, three times. */
static void *set_timer(void *unused)
{
	int n;

	for (n = 0; n < 3; n++) {
		CLOCK_APIC->settimer(CLOCK_APIC, 500000);
		usleep(1500);
	}
	sem_post(&done);
	return NULL;
}

static void chip_tick(struct pt_regs *regs)
{
	others++;
}

static void signalled(int signal)
{
	count++;
}

/* Sets timers whose handlers run on the other processor. */
static void *set_others(void *unused)
{
	struct itimerspec once = { .it_value.tv_nsec = 500000 };
	rtl_sigset_t none;
	timer_t timer;

	CLOCK_8254->settimer(CLOCK_8254, 500000);
	timer_create(CLOCK_REALTIME, NULL, &timer);
	usleep(2000);
	timer_settime(timer, 0, &once, NULL);
	rtl_sigemptyset(&none);
	sigsuspend(&none);
	sem_post(&done);
	return NULL;
}

static void *story(void *unused)
{
	rtl_irqstate_t flags;
	pthread_t thread;
	int n, inside = 0;

	for (n = 0; n < 100; n++) {
		rtl_reschedule(1);
		sem_wait(&taken);
	}
	rtl_printf("to 1: %d taken, there %d, with interrupts off %d\n", count, there, off);

	count = there = 0;
	rtl_request_ipi(on_0, 0);
	for (n = 1; n <= 5; n++) {
		rtl_reschedule(0);
		inside += count == n;
	}
	rtl_printf("to itself: %d taken before the sender goes on, there %d\n", inside, there);

	there = 0;
	rtl_request_local_irq(RTL_RESCHEDULE_VECTOR, to, 0);
	rtl_request_local_irq(RTL_RESCHEDULE_VECTOR, fro, 1);
	rtl_reschedule(1);
	sem_wait(&taken);
	rtl_printf("to and fro: %d, there %d\n", rounds, there);

	count = 0;
	rtl_request_ipi(on_1, 1);
	rtl_no_interrupts(flags);
	for (n = 0; n < 3; n++)
		rtl_reschedule(1);
	rtl_restore_interrupts(flags);
	sem_wait(&taken);
	usleep(500);
	rtl_printf("3 at once: %d taken\n", count);

	count = 0;
	rtl_request_ipi(other, 1);
	rtl_reschedule(1);
	usleep(500);
	n = others;
	rtl_free_ipi(1);
	rtl_reschedule(1);
	usleep(500);
	rtl_printf("replaced: %d and %d, freed: %d\n", count, n, others - n);

	start_on(&sleeper, 1, 5, sleep_until_woken, NULL);
	sem_wait(&done);
	usleep(500);
	set_bit(RTL_SIGNAL_WAKEUP, &sleeper->pending);
	usleep(500);
	early = woken;
	rtl_reschedule(1);
	sem_wait(&done);
	rtl_printf("a pending wake-up: not yet %d, then %d\n", early, woken);

	rtl_setclockhandler(CLOCK_APIC, clock_tick);
	rtl_request_local_irq(LOCAL_TIMER_VECTOR, local_tick, 1);
	CLOCK_APIC->settimer(CLOCK_APIC, 1000000);
	start_on(&thread, 1, 10, set_timer, NULL);
	sem_wait(&done);
	usleep(5000);
	n = ticks[1];
	rtl_free_local_irq(LOCAL_TIMER_VECTOR, 1);
	start_on(&thread, 1, 10, set_timer, NULL);
	sem_wait(&done);
	rtl_printf("timers: %d there %d, and %d there %d; freed: %d\n", ticks[0], ticks_there[0], n, ticks_there[1],
		ticks[1] - n);

	others = count = 0;
	usleep(5000);
	start_on(&thread, 1, 10, set_others, NULL);
	sem_wait(&done);
	rtl_printf("set from processor 1: the chip's timer %d, signals %d\n", others, count);
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	struct sigaction action = { .sa_handler = signalled };
	pthread_t thread;
	int a, b, c, d, e, f;

	sem_init(&taken, 0, 0);
	sem_init(&done, 0, 0);
	first_apic_id = 0;
	a = rtl_request_ipi(on_1, 2);
	b = rtl_request_ipi(on_1, -1);
	c = rtl_request_local_irq(LOCAL_TIMER_VECTOR, local_tick, 2);
	d = rtl_request_local_irq(5, on_1, 1);
	e = rtl_free_ipi(2);
	f = rtl_free_local_irq(5, 1);
	rtl_reschedule(2);
	rtl_printf("refused: %d %d %d %d, freed %d %d %d\n", a, b, c, d, e, f, rtl_free_ipi(1));
	rtl_request_ipi(on_1, 1);
	rtl_setclockhandler(CLOCK_8254, chip_tick);
	sigaction(RTL_SIGUSR1, &action, NULL);
	return start_on(&thread, 0, 20, story, NULL);
}

void cleanup_module(void)
{
}
