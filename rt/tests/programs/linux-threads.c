/*
 * `pillion ps` in Linux shows the processor of each thread of a task. The second thread that is
 * made is number 3, since number 2 is one of the other processor.
 *
 * load: threads
 * run: --cpus 2 --turn 20
 * task: cpus = [0, 1]
 * task: threads = 6
 * prints: threads 0 1 1 0
 * limit: 500
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pthread.h>

static pthread_t threads[3];
static volatile int on[3] = { -1, -1, -1 };

static void *show(void *number)
{
	on[(long)number] = rtl_getcpuid();
	pthread_suspend_np(pthread_self());
	return NULL;
}

int init_module(void)
{
	static const int cpus[] = { 1, 1, 0 };
	pthread_attr_t attr;
	long i;

	pthread_attr_init(&attr);
	for (i = 0; i < 3; i++) {
		pthread_attr_setcpu_np(&attr, cpus[i]);
		pthread_create(&threads[i], &attr, show, (void *)i);
	}
	while (on[0] < 0 || on[1] < 0 || on[2] < 0)
		usleep(1000);
	rtl_printf("threads %d %d %d %d\n", rtl_getcpuid(), on[0], on[1], on[2]);
	return 0;
}

void cleanup_module(void)
{
	int i;

	for (i = 0; i < 3; i++)
		pthread_delete_np(threads[i]);
}
