/*
 * A program's own functions and variables take precedence over the library's with the same name,
 * and a program may use names of the C library that RTLinux's headers did not declare.
 *
 * warns: built-in function 'y1' declared as non-function
 * prints: clock 1, time 5, y1 2.5, clock_gettime 3, sleep 4, index 7, signal 8
 * prints: schedule of the program, udelay 8, sysconf 3
 * prints: the library still works: 1
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <pthread.h>
#include <pillion.h>

int sysconf = 3;
clockid_t clock;
int time = 5, index = 7, signal;
double y1 = 2.5;
static int pause, remove;

int clock_gettime(int which)
{
	return which + 1;
}

static void sleep(int *times)
{
	*times = 4;
}

int udelay(int value)
{
	return value + 1;
}

void schedule(void)
{
	rtl_printf("schedule of the program, udelay %d, sysconf %d\n", udelay(7), sysconf);
}

static void *run(void *unused)
{
	rtl_printf("the library still works: %d\n", pthread_self() != pthread_linux());
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	pthread_t thread;

	int slept;

	clock = rtl_getschedclock();
	sleep(&slept);
	signal = 8;
	rtl_printf("clock %d, time %d, y1 %d.%d, clock_gettime %d, sleep %d, index %d, signal %d\n", clock == CLOCK_REALTIME, time,
		   (int)y1, (int)(y1 * 10) % 10, clock_gettime(2 + pause + remove), slept, index, signal);
	schedule();
	return pthread_create(&thread, NULL, run, NULL);
}

void cleanup_module(void)
{
}
