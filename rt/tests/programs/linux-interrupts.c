/*
 * From a real-time thread, a program has Linux's handler of an interrupt run (rtl_global_pend_irq,
 * and a signal to the thread that stands for Linux). Linux refuses numbers without a handler.
 * linux/initramfs/lib/load/pend checks /proc/interrupts.
 *
 * prints: asked to pend 9
 * prints: software interrupt 224 on the main thread, 5 times
 * prints: asked to stop
 * load: pend
 * run: --memory 512
 * limit: 300
 */
#include <rtl.h>
#include <rtl_core.h>
#include <rtl_sched.h>
#include <rtl_fifo.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <pillion.h>

#define COMMANDS 0
#define TIMES 5
/* A number that no interrupt of Linux has. */
#define NOBODYS 200

static pthread_t worker;
static sem_t asked;
static int line, soft;
static volatile int handled, elsewhere;

static void on_soft(int irq, void *device, struct pt_regs *regs)
{
	handled++;
	elsewhere |= pthread_self() != pthread_linux();
}

/*
 * Half of them one way, half the other. An interrupt pended twice before Linux runs would be
 * handled once.
 */
static void *pends(void *unused)
{
	int i;

	for (;;) {
		sem_wait(&asked);
		rtl_global_pend_irq(NOBODYS);
		for (i = 0; i < TIMES; i++) {
			rtl_global_pend_irq(line);
			rtl_global_pend_irq(soft);
			usleep(20000);
			pthread_kill(pthread_linux(), RTL_LINUX_MIN_SIGNAL + line);
			usleep(20000);
		}
		rtl_printf("software interrupt %d %s, %d times\n", soft, elsewhere ? "elsewhere" : "on the main thread", handled);
	}
	return unused;
}

/* Receives the number of an interrupt, or the request to end. */
static int on_command(unsigned int fifo)
{
	char text[16] = "";

	rtf_get(fifo, text, sizeof(text) - 1);
	if (!strcmp(text, "stop")) {
		rtl_printf("asked to stop\n");
		pillion_unload();
		return 0;
	}
	line = atoi(text);
	rtl_printf("asked to pend %d\n", line);
	sem_post(&asked);
	return 0;
}

int init_module(void)
{
	soft = rtl_get_soft_irq(on_soft, "linux-interrupts");
	sem_init(&asked, 0, 0);
	rtf_create(COMMANDS, 64);
	rtf_create_handler(COMMANDS, on_command);
	return pthread_create(&worker, NULL, pends, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(worker);
	rtf_destroy(COMMANDS);
	rtl_free_soft_irq(soft);
}
