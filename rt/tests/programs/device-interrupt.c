/*
 * Interrupts of a device, the CMOS clock, 1024 times a second. Each interrupt runs the handler
 * once, with interrupts off, and a thread that the handler wakes. The line stays masked until it is
 * enabled, and no handler runs for a line that is disabled or was freed.
 *
 * task: interrupts = [{ line = 8 }]
 * task: ports = [{ first = 0x70, count = 2 }]
 * prints: line 7 is not this task's: ...
 * prints: line 7: -16, line 8: 0, again: -16
 * prints: 32 more interrupts of line 8 in 31250 us
 * prints: interrupts were off 33 times of 33, the thread woke 33 times
 * prints: disabled: 0
 * prints: enabled: 1 was held back, then 32 in 31250 us
 * prints: not enabled by the handler: 1
 * prints: freed: 0, 0, again -22
 * prints: as a signal: 0, 264, 32 in 31250 us
 * prints: set again and again: 256 in 250000 us
 * prints: ignored: 0, 0
 * prints: no such signal: -1, errno 22
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

/* The clock raises its line again only after register C has been read. */
static void count(int irq)
{
	number = irq;
	if (get(REGISTER_C) & PERIODIC) {
		last = gethrtime();
		interrupts++;
		sem_post(&arrived);
	}
	if (enables)
		rtl_hard_enable_irq(LINE);
}

static unsigned int handler(unsigned int irq, struct pt_regs *regs)
{
	off += !rtl_irqs_enabled();
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

/* Waits for 33 interrupts; returns the time from the first to the last, to within 5 us. */
static int time_of_32(void)
{
	hrtime_t first;

	interrupts = 0;
	while (interrupts < 1)
		usleep(20);
	first = last;
	while (interrupts < 33)
		usleep(20);
	return (last - first + 5000) / 10000 * 10;
}

static int in_10_ms(void)
{
	interrupts = 0;
	usleep(10000);
	return interrupts;
}

static void masks(void)
{
	int before, held, time;

	rtl_hard_disable_irq(LINE);
	rtl_printf("disabled: %d\n", in_10_ms());
	before = interrupts;
	rtl_hard_enable_irq(LINE);
	held = interrupts - before;
	time = time_of_32();
	rtl_printf("enabled: %d was held back, then 32 in %d us\n", held, time);
	enables = 0;
	rtl_printf("not enabled by the handler: %d\n", in_10_ms());
	enables = 1;
}

/* As time_of_32(), for 256 interrupts, during which the action is set again and again. */
static int time_of_256(const struct sigaction *action)
{
	hrtime_t first;

	interrupts = 0;
	while (interrupts < 1)
		sigaction(RTL_SIGIRQMIN + LINE, action, NULL);
	first = last;
	while (interrupts < 257)
		sigaction(RTL_SIGIRQMIN + LINE, action, NULL);
	return (last - first + 5000) / 10000 * 10;
}

static void signals(void)
{
	struct sigaction action;
	int result, time;

	action.sa_handler = count;
	action.sa_flags = 0;
	result = sigaction(RTL_SIGIRQMIN + LINE, &action, NULL);
	get(REGISTER_C);
	time = time_of_32();
	rtl_printf("as a signal: %d, %d, 32 in %d us\n", result, number, time);
	rtl_printf("set again and again: 256 in %d us\n", time_of_256(&action));
	action.sa_handler = SIG_IGN;
	result = sigaction(RTL_SIGIRQMIN + LINE, &action, NULL);
	rtl_printf("ignored: %d, %d\n", result, in_10_ms());
	result = sigaction(RTL_SIGIRQMAX + 1, &action, NULL);
	rtl_printf("no such signal: %d, errno %d\n", result, errno);
}

static void *work(void *x)
{
	int time, freed;

	set(REGISTER_A, (get(REGISTER_A) & 0xf0) | RATE_1024);
	ticks(1);
	time = time_of_32();
	rtl_hard_disable_irq(LINE);
	rtl_printf("32 more interrupts of line 8 in %d us\n", time);
	rtl_printf("interrupts were off %d times of %d, the thread woke %d times\n", off, interrupts, woken);
	rtl_hard_enable_irq(LINE);
	masks();
	freed = rtl_free_irq(LINE);
	rtl_printf("freed: %d, %d, again %d\n", freed, in_10_ms(), rtl_free_irq(LINE));
	signals();
	ticks(0);
	pillion_unload();
	return x;
}

int init_module(void)
{
	int other, mine;

	sem_init(&arrived, 0, 0);
	other = rtl_request_irq(7, handler);
	mine = rtl_request_irq(LINE, handler);
	rtl_printf("line 7: %d, line 8: %d, again: %d\n", other, mine, rtl_request_irq(LINE, handler));
	pthread_create(&woken_thread, NULL, wakes, NULL);
	return pthread_create(&main_thread, NULL, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(woken_thread);
	pthread_join(main_thread, NULL);
}
