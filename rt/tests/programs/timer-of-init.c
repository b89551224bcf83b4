/*
 * A timer that init_module creates, and a queue for which it wants notices, signal the thread that
 * waits for the signal, or last waited for it. If there is none, they signal the main thread.
 *
 * limit: 20
 * prints: nobody waits: the main thread
 * prints: timer: the waiting thread 3 times, errno 4
 * prints: it computed: the waiting thread
 * prints: notice: the waiting thread, errno 4
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <mqueue.h>
#include <signal.h>
#include <time.h>
#include <pillion.h>

static pthread_t thread, other;
static timer_t timer;
static mqd_t queue;
static volatile int runs, elsewhere;

static void handler(int signal)
{
	if (pthread_self() == thread)
		runs++;
	else
		elsewhere++;
}

static const char *who(void)
{
	const char *name = elsewhere ? "another" : runs ? "the waiting thread" : "none";

	runs = elsewhere = 0;
	return name;
}

static void arm(long ns, long interval)
{
	struct itimerspec spec;

	spec.it_value = timespec_from_ns(ns);
	spec.it_interval = timespec_from_ns(interval);
	timer_settime(timer, 0, &spec, NULL);
}

/* Waits for other things, never for the signal. */
static void *sleeps(void *unused)
{
	for (;;)
		usleep(1000000);
	return unused;
}

static void *work(void *unused)
{
	rtl_sigset_t none, all;
	hrtime_t end;
	int result;

	usleep(2000);
	rtl_printf("nobody waits: %s\n", elsewhere == 1 ? "the main thread" : who());
	elsewhere = 0;
	rtl_sigemptyset(&none);
	rtl_sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	arm(1000000, 1000000);
	while (runs < 3 && !elsewhere)
		result = sigsuspend(&none);
	arm(0, 0);
	rtl_printf("timer: %s %d times, errno %d\n", elsewhere ? "another" : "the waiting thread", runs, errno);
	who();
	arm(1000000, 0);
	for (end = gethrtime() + 2000000; gethrtime() < end; )
		;
	sigsuspend(&none);
	rtl_printf("it computed: %s\n", who());
	arm(1000000, 0);
	mq_send(queue, "a", 1, 0);
	errno = 0;
	sigsuspend(&none);
	rtl_printf("notice: %s, errno %d\n", who(), errno);
	pillion_unload();
	return unused;
}

int init_module(void)
{
	struct sigevent event = { 0 };
	struct sigaction action = { 0 };
	struct mq_attr attr = { 0 };

	action.sa_handler = handler;
	sigaction(RTL_SIGUSR1, &action, NULL);
	sigaction(RTL_SIGUSR2, &action, NULL);
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = RTL_SIGUSR1;
	timer_create(CLOCK_REALTIME, &event, &timer);
	attr.mq_maxmsg = 2;
	attr.mq_msgsize = 8;
	queue = mq_open("/q", O_RDWR | O_CREAT, 0600, &attr);
	event.sigev_signo = RTL_SIGUSR2;
	mq_notify(queue, &event);
	arm(1000000, 0);
	pthread_create(&other, NULL, sleeps, NULL);
	return pthread_create(&thread, NULL, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(other);
	timer_delete(timer);
}
