/*
 * A raw timer: its handler sets it again each time, runs on time, and not after the timer is given
 * back. The second timer is periodic.
 *
 * prints: one-shot 10 times, 1000 us apart, in FIFO 80 bytes
 * prints: periodic 5 times, mode 2
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_fifo.h>
#include <pillion.h>

static pthread_t thread;
static hrtime_t first, last;
static int shots, ticks;

static void shot(struct pt_regs *regs)
{
	last = gethrtime();
	if (shots++ == 0)
		first = last;
	rtf_put(2, &last, sizeof(last));
	if (shots < 10)
		CLOCK_8254->settimer(CLOCK_8254, 1000000);
}

static void tick(struct pt_regs *regs)
{
	ticks++;
}

static void *start(void *arg)
{
	usleep(30000);
	CLOCK_8254->uninit(CLOCK_8254);
	rtl_unsetclockhandler(CLOCK_8254);
	rtl_printf("one-shot %d times, %d us apart, in FIFO %d bytes\n", shots, (int)((last - first + 500) / 9000), RTF_LEN(2));
	rtl_setclockhandler(CLOCK_APIC, tick);
	CLOCK_APIC->init(CLOCK_APIC);
	CLOCK_APIC->settimermode(CLOCK_APIC, RTL_CLOCK_MODE_PERIODIC);
	CLOCK_APIC->settimer(CLOCK_APIC, 2000000);
	usleep(11000);
	rtl_printf("periodic %d times, mode %d\n", ticks, CLOCK_APIC->mode);
	CLOCK_APIC->uninit(CLOCK_APIC);
	rtl_unsetclockhandler(CLOCK_APIC);
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	rtf_create(2, 4000);
	rtl_setclockhandler(CLOCK_8254, shot);
	CLOCK_8254->init(CLOCK_8254);
	CLOCK_8254->settimermode(CLOCK_8254, RTL_CLOCK_MODE_ONESHOT);
	CLOCK_8254->settimer(CLOCK_8254, 1000000);
	return pthread_create(&thread, NULL, start, NULL);
}

void cleanup_module(void)
{
	pthread_join(thread, NULL);
	rtf_destroy(2);
}
