/*
 * A program's signals run their handler in the receiving thread; masks block them; they end sleeps.
 *
 * prints: to itself: handler 7 in the thread
 * prints: held back: pending 1, runs 0
 * prints: let through: handler 8 in the thread
 * prints: sigsuspend: handler 9 in the thread
 * prints: sigsuspend gave -1, errno 4
 * prints: sleep: handler 9 in the thread
 * prints: sleep gave -1, errno 4, more than half is left
 * prints: ignored: 0 and nothing
 * prints: timer: 4 signals, overruns 0
 * prints: timer armed again in 1 ms, every 2 ms
 * prints: timer: 0 signals after its end
 * prints: bad ones: 22 22 22 3
 * prints: raw timer: 3 interrupts, one shot: 1
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <signal.h>
#include <unistd.h>
#include <time.h>
#include <pillion.h>

static pthread_t target, sender;
static volatile int runs, interrupts;

static void handler(int signal)
{
	rtl_printf("handler %d %s\n", signal, pthread_equal(pthread_self(), target) ? "in the thread" : "elsewhere");
}

static void counts(int signal) { runs++; }

static void on(int signal, void (*f)(int))
{
	struct sigaction action;

	action.sa_handler = f;
	action.sa_flags = 0;
	rtl_sigfillset(&action.sa_mask);
	if (sigaction(signal, &action, NULL))
		rtl_printf("sigaction: errno %d\n", errno);
}

static void *sends(void *x)
{
	int i;

	for (i = 0; i < 2; i++) {
		usleep(2000);
		pthread_kill(target, RTL_SIGRTMIN);
	}
	return x;
}

static void timers(void)
{
	struct itimerspec spec, seen;
	struct sigevent event;
	timer_t timer;
	int overruns;

	on(RTL_SIGUSR1, counts);
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = RTL_SIGUSR1;
	timer_create(CLOCK_REALTIME, &event, &timer);
	spec.it_value = timespec_from_ns(1000000);
	spec.it_interval = timespec_from_ns(2000000);
	timer_settime(timer, 0, &spec, NULL);
	while (runs < 4)
		pause();
	overruns = timer_getoverrun(timer);
	rtl_printf("timer: %d signals, overruns %d\n", runs, overruns);
	timer_settime(timer, 0, &spec, NULL);
	timer_gettime(timer, &seen);
	rtl_printf("timer armed again in %ld ms, every %ld ms\n", (seen.it_value.tv_nsec + 500000) / 1000000, seen.it_interval.tv_nsec / 1000000);
	timer_delete(timer);
	runs = 0;
	usleep(5000);
	rtl_printf("timer: %d signals after its end\n", runs);
}

static void fires(struct pt_regs *regs) { interrupts++; }

static void raw(void)
{
	clockid_t c = CLOCK_8254;
	int many;

	rtl_setclockhandler(c, fires);
	c->init(c);
	c->settimermode(c, RTL_CLOCK_MODE_PERIODIC);
	c->settimer(c, 1000000);
	usleep(3500);
	c->uninit(c);
	many = interrupts;
	interrupts = 0;
	c->settimermode(c, RTL_CLOCK_MODE_ONESHOT);
	c->settimer(c, 1000000);
	usleep(3500);
	rtl_unsetclockhandler(c);
	rtl_printf("raw timer: %d interrupts, one shot: %d\n", many, interrupts);
}

static void *work(void *x)
{
	struct timespec second = { 0, 4000000 }, left;
	static char stack[16384];
	struct sigaction action;
	pthread_attr_t attr;
	rtl_sigset_t set, all, pending;
	int result;

	target = pthread_self();
	on(RTL_SIGUSR1, handler);
	on(RTL_SIGUSR2, handler);
	on(RTL_SIGRTMIN, handler);
	rtl_printf("to itself: ");
	pthread_kill(pthread_self(), RTL_SIGUSR1);
	rtl_sigfillset(&all);
	rtl_sigemptyset(&set);
	rtl_sigaddset(&set, RTL_SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_kill(pthread_self(), RTL_SIGUSR2);
	sigpending(&pending);
	rtl_printf("held back: pending %d, runs %d\n", rtl_sigismember(&pending, RTL_SIGUSR2), runs);
	rtl_printf("let through: ");
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof(stack));
	pthread_create(&sender, &attr, sends, NULL);
	rtl_printf("sigsuspend: ");
	rtl_sigemptyset(&set);
	result = sigsuspend(&set);
	rtl_printf("sigsuspend gave %d, errno %d\n", result, errno);
	rtl_printf("sleep: ");
	result = nanosleep(&second, &left);
	rtl_printf("sleep gave %d, errno %d, %s\n", result, errno, left.tv_nsec > 1900000 ? "more than half is left" : "little is left");
	on(RTL_SIGRTMIN, SIG_IGN);
	rtl_printf("ignored: %d and nothing\n", pthread_kill(pthread_self(), RTL_SIGRTMIN));
	timers();
	action.sa_handler = counts;
	action.sa_flags = 0;
	sigaction(5, &action, NULL);
	rtl_printf("bad ones: %d %d %d %d\n", errno, pthread_kill(pthread_self(), 32), pthread_sigmask(9, &all, NULL), pthread_kill(NULL, 7));
	raw();
	pillion_unload();
	return x;
}

int init_module(void)
{
	static pthread_t first;

	return pthread_create(&first, NULL, work, NULL);
}

void cleanup_module(void) { }
