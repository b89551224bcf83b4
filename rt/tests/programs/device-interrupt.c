/*
 * A device's interrupts: the CMOS clock, 1024 times a second. Each one runs the handler once, with interrupts off, and a thread that the handler wakes;
 * the line stays masked until it is enabled, and no handler runs for a line that is disabled or was freed.
 *
 * task: interrupts = [{ line = 8 }]
 * task: ports = [{ first = 0x70, count = 2 }]
 * prints: line 7: -16, line 8: 0, again: -16
 * prints: 32 interrupts of line 8 in 31250 us, with interrupts off 32
 * prints: the thread was woken 32 times
 * prints: disabled: 0 interrupts
 * prints: enabled: 1 held back, then 16 in 15625 us
 * prints: not enabled by the handler: 1
 * prints: freed: 0, again: -22, 0 interrupts
 * prints: as signal: 0, number 264, 32 interrupts
 * prints: without handler: 0, 0 interrupts
 * prints: bad signals: -1 -1
 */
#include <rtl.h>
#include <rtl_core.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <asm/io.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <pillion.h>

#define LINE 8
#define RATE_1024 6
#define REGISTER_A 0x0a
#define REGISTER_B 0x0b
#define REGISTER_C 0x0c
#define PERIODIC 0x40

static pthread_t woken_thread, main_thread;
static sem_t arrived;
static volatile int interrupts, off, woken, number, enables = 1;
static volatile hrtime_t last;

static int get(int index)
{
	outb(index, 0x70);
	return inb(0x71);
}

static void set(int index, int value)
{
	outb(index, 0x70);
	outb(value, 0x71);
}

static void ticks(int on)
{
	set(REGISTER_B, on ? get(REGISTER_B) | PERIODIC : get(REGISTER_B) & ~PERIODIC);
	get(REGISTER_C);
}

/* The clock raises its line again only after register C was read. */
static void count(int irq)
{
	number = irq;
	if (!(get(REGISTER_C) & PERIODIC))
		return;
	interrupts++;
	last = gethrtime();
	sem_post(&arrived);
	if (enables)
		rtl_hard_enable_irq(LINE);
}

static unsigned int handler(unsigned int irq, struct pt_regs *regs)
{
	rtl_irqstate_t state;

	rtl_no_interrupts(state);
	off += !state;
	rtl_restore_interrupts(state);
	count(irq);
	return 0;
}

static void *wakes(void *x)
{
	for (;;) {
		sem_wait(&arrived);
		woken++;
	}
	return x;
}

/* Waits until the handler has run so often, and returns the time from the first to the last in us. */
static int wait_for(int many)
{
	hrtime_t first;

	interrupts = 0;
	while (!interrupts)
		usleep(20);
	first = last;
	while (interrupts <= many)
		usleep(20);
	return (last - first + 500) / 1000;
}

static int in_10_ms(void)
{
	interrupts = 0;
	usleep(10000);
	return interrupts;
}

static void *work(void *x)
{
	wait_for(32);
	pillion_unload();
	return x;
}

int init_module(void)
{
	sem_init(&arrived, 0, 0);
	pthread_create(&woken_thread, NULL, wakes, NULL);
	return pthread_create(&main_thread, NULL, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(woken_thread);
	pthread_join(main_thread, NULL);
}
