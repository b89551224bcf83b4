/*
 * Negative and invalid times are refused; but a call that need not wait does not check its time.
 *
 * limit: 20
 * prints: timer: first -1 22, interval -1 22, nanoseconds -1 22; still idle: 1
 * prints: clock: -1 22, goes on: 1
 * prints: sleep: -1 22, 22
 * prints: queue with a message: 1 of 1, without: -1 22, in the past: -1 110
 * prints: queue with room: 0, full: -1 22
 * prints: semaphore with a name: 0, without: -1 22
 * prints: lock: 0, taken: 22
 * prints: raw timer: -22
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <mqueue.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <pillion.h>

static struct timespec none = { 1, -5 }, negative = { -1, 0 }, past = { 0, 1 };

static int settime(timer_t timer, struct timespec first, struct timespec interval)
{
	struct itimerspec spec;

	spec.it_value = first;
	spec.it_interval = interval;
	errno = 0;
	return timer_settime(timer, 0, &spec, NULL);
}

static void timers(void)
{
	struct timespec second = { 1, 0 };
	struct itimerspec seen;
	timer_t timer;
	int result;

	timer_create(CLOCK_REALTIME, NULL, &timer);
	result = settime(timer, negative, second);
	rtl_printf("timer: first %d %d, ", result, errno);
	result = settime(timer, second, negative);
	rtl_printf("interval %d %d, ", result, errno);
	result = settime(timer, second, none);
	timer_gettime(timer, &seen);
	rtl_printf("nanoseconds %d %d; still idle: %d\n", result, errno, !timespec_nz(&seen.it_value));
	timer_delete(timer);
	result = clock_settime(CLOCK_REALTIME, &negative);
	rtl_printf("clock: %d %d, goes on: %d\n", result, errno, clock_gethrtime(CLOCK_REALTIME) > 0);
	errno = 0;
	result = nanosleep(&negative, NULL);
	rtl_printf("sleep: %d %d, %d\n", result, errno, clock_nanosleep(CLOCK_REALTIME, 0, &none, NULL));
}

static void *work(void *unused)
{
	struct mq_attr attr = { 0 };
	pthread_rwlock_t lock;
	char text[8];
	mqd_t queue;
	sem_t *sem;
	int result;

	timers();
	attr.mq_maxmsg = 1;
	attr.mq_msgsize = sizeof(text);
	queue = mq_open("/q", O_RDWR | O_CREAT, 0600, &attr);
	mq_send(queue, "a", 1, 0);
	rtl_printf("queue with a message: %d of 1, ", (int)mq_timedreceive(queue, text, sizeof(text), NULL, &none));
	result = mq_timedreceive(queue, text, sizeof(text), NULL, &none);
	rtl_printf("without: %d %d, ", result, errno);
	result = mq_timedreceive(queue, text, sizeof(text), NULL, &past);
	rtl_printf("in the past: %d %d\n", result, errno);
	result = mq_timedsend(queue, "a", 1, 0, &none);
	rtl_printf("queue with room: %d, ", result);
	result = mq_timedsend(queue, "a", 1, 0, &none);
	rtl_printf("full: %d %d\n", result, errno);
	sem = sem_open("/s", O_CREAT, 0600, 1);
	rtl_printf("semaphore with a name: %d, ", sem_timedwait(sem, &none));
	result = sem_timedwait(sem, &none);
	rtl_printf("without: %d %d\n", result, errno);
	pthread_rwlock_init(&lock, NULL);
	rtl_printf("lock: %d, ", pthread_rwlock_timedwrlock(&lock, &none));
	rtl_printf("taken: %d\n", pthread_rwlock_timedrdlock(&lock, &none));
	rtl_printf("raw timer: %d\n", CLOCK_8254->settimer(CLOCK_8254, -1));
	pillion_unload();
	return unused;
}

int init_module(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, work, NULL);
}

void cleanup_module(void)
{
}
