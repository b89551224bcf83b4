/*
 * A thread that dereferences NULL stops its task. Linux sees that
 * (linux/initramfs/lib/load/faulted), can still read what the task put before, and removes what is
 * left of the task. Then once more, with a process that polls meanwhile (linux/tests/dead.c).
 *
 * prints: faults
 * prints: faults
 * ends: faulted
 * never: never printed
 * load: faulted
 * run: --memory 512
 * limit: 300
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <rtl_sched.h>
#include <pthread.h>
#include <semaphore.h>

#define FIFO 0
#define FULL 1

static sem_t asked;
static int *nowhere;

static int on_write(unsigned int fifo)
{
	char text[16];

	if (rtf_get(fifo, text, sizeof(text)) > 0)
		sem_post(&asked);
	return 0;
}

static void *faults(void *unused)
{
	sem_wait(&asked);
	rtf_put(FIFO, "left", 4);
	rtl_printf("faults\n");
	*(volatile int *)nowhere = 1;
	rtl_printf("never printed\n");
	return unused;
}

int init_module(void)
{
	pthread_t thread;

	sem_init(&asked, 0, 0);
	rtf_create(FIFO, 64);
	rtf_create(FULL, 64);
	rtf_create_handler(FIFO, on_write);
	return pthread_create(&thread, NULL, faults, NULL);
}

void cleanup_module(void)
{
}
