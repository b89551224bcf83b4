/*
 * In the style of the time: a queue, a barrier, thread-specific data, cleanup handlers, and a
 * signal that is set by hand.
 *
 * prints: got hi, priority 1
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_mutex.h>
#include <rtl_sema.h>
#include <rtl_barrier.h>
#include <mqueue.h>
#include <fcntl.h>
#include <pillion.h>
pthread_key_t key; static pthread_t a, b; static mqd_t mq; pthread_barrier_t bar;
static pthread_mutex_t m;
static void undo(void *x) { pthread_mutex_unlock((pthread_mutex_t *)x); }
static void *one(void *x)
{
	char text[16]; unsigned prio; int old;
	struct timespec ts;
	pthread_setspecific(key, x);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
	pthread_mutex_lock(&m);
	pthread_cleanup_push(undo, &m);
	pthread_barrier_wait(&bar);
	clock_gettime(CLOCK_REALTIME, &ts);
	timespec_add_ns(&ts, 1000000);
	if (mq_timedreceive(mq, text, sizeof(text), &prio, &ts) < 0 && errno == ETIMEDOUT) rtl_printf("timeout\n");
	pthread_cleanup_pop(1);
	rtl_printf("got %s, priority %u\n", text, prio);
	pillion_unload();
	return pthread_getspecific(key);
}
static void *two(x) void *x; { pthread_barrier_wait(&bar); mq_send(mq, "hi", 3, 1); nanosleep(hrt2ts(1000000), NULL); return 0; }
int init_module()
{
	struct mq_attr at; pthread_mutexattr_t ma;
	at.mq_flags = O_NONBLOCK; at.mq_maxmsg = 4; at.mq_msgsize = 16;
	mq = mq_open("queue", O_CREAT | O_RDWR, 0, &at);
	pthread_mutexattr_init(&ma); pthread_mutexattr_settype(&ma, PTHREAD_MUTEX_NORMAL); pthread_mutex_init(&m, &ma);
	pthread_key_create(&key, NULL); pthread_barrier_init(&bar, NULL, 2);
	pthread_create(&a, NULL, one, (void *)1); pthread_create(&b, NULL, two, NULL);
	if (a->magic != RTL_THREAD_MAGIC) return -1;
	set_bit(RTL_SIGNAL_WAKEUP, &b->pending);
	rtl_schedule();
	return 0;
}
void cleanup_module() { pthread_delete_np(a); pthread_delete_np(b); mq_close(mq); mq_unlink("queue"); }
