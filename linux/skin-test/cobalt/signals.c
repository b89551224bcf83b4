// SPDX-License-Identifier: GPL-2.0-only
/* Signals to real-time threads, pseudo signals, and timers. */
#include <signal.h>
#include <stdbool.h>
#include <sys/cobalt.h>
#include <sys/select.h>
#include <sys/timerfd.h>

#include "../check.h"

static sigset_t both;
static bool has_primary;

/* What threads in primary mode send each other does not need Linux. */
static bool is_primary(void)
{
	return !has_primary || cobalt_thread_mode() == 0;
}

static void *waits(void *received)
{
	siginfo_t info;
	int signal;

	check(!sigwait(&both, &signal) && signal == SIGUSR1);
	*(int *)received = 1;
	check(sigwaitinfo(&both, &info) == SIGRTMIN && info.si_code == SI_QUEUE && info.si_value.sival_int == 7);
	*(int *)received = 2;
	return NULL;
}

static void *sends(void *nothing)
{
	struct timespec moment = { 0, 2 * MS }, none = { 0, 0 };
	volatile int received = 0;
	pthread_t thread = start(60, waits, (void *)&received);
	union sigval value = { .sival_int = 7 };
	siginfo_t info;
	sigset_t pending;

	rest(MS);
	check(is_primary() && !pthread_kill(thread, SIGUSR1) && is_primary());
	while (!received)
		rest(MS);
	check(received == 1 && !sigqueue(cobalt_thread_pid(thread), SIGRTMIN, value) && is_primary());
	pthread_join(thread, NULL);
	check(received == 2);
	check(sigtimedwait(&both, &info, &moment) == -1 && errno == EAGAIN);
	check(sigtimedwait(&both, &info, &none) == -1 && errno == EAGAIN);
	/* One of a kind, or each of those that queue; the lower number first. */
	value.sival_int = 1;
	check(!sigqueue(cobalt_thread_pid(pthread_self()), SIGRTMIN, value));
	value.sival_int = 2;
	check(!sigqueue(cobalt_thread_pid(pthread_self()), SIGRTMIN, value));
	check(!pthread_kill(pthread_self(), SIGUSR1) && !pthread_kill(pthread_self(), SIGUSR1));
	check(!sigpending(&pending) && sigismember(&pending, SIGUSR1) && sigismember(&pending, SIGRTMIN));
	check(sigtimedwait(&both, &info, &moment) == SIGUSR1);
	check(sigtimedwait(&both, &info, &moment) == SIGRTMIN && info.si_value.sival_int == 1);
	check(sigtimedwait(&both, &info, &moment) == SIGRTMIN && info.si_value.sival_int == 2);
	check(sigtimedwait(&both, &info, &none) == -1 && errno == EAGAIN);
	/* sigpending() was a call of Linux's. */
	rest(MS);
	check(is_primary() && !kill(cobalt_thread_pid(pthread_self()), SIGUSR1) && is_primary());
	check(sigtimedwait(&both, &info, &none) == SIGUSR1 && info.si_code == SI_USER);
	check(info.si_pid == getpid() && info.si_uid == getuid());
	if (!getuid()) {
		check(!setreuid(1, -1) && !kill(cobalt_thread_pid(pthread_self()), SIGUSR1) && !setreuid(0, -1));
		check(sigtimedwait(&both, &info, &none) == SIGUSR1 && info.si_uid == 1);
	}
	check(pthread_kill(pthread_self(), SIGDEMT + 1) == EINVAL && !pthread_kill(pthread_self(), 0));
	printf("ok signals\n");
	return nothing;
}

static volatile int counted;

static void *counts(void *nothing)
{
	for (;;) {
		counted++;
		rest(MS / 5);
	}
	return nothing;
}

/* Waits until the other thread has counted on. */
static void follow(void)
{
	int before = counted, i;

	for (i = 0; i < 1000 && counted == before; i++)
		rest(MS);
	check(counted != before);
}

static pthread_t blocked;
static int result_of_wait;

static void *blocks(void *event)
{
	unsigned int bits;

	result_of_wait = cobalt_event_wait(event, 1, &bits, COBALT_EVENT_ANY, NULL);
	return NULL;
}

static void *pseudo(void *nothing)
{
	pthread_t thread = start(40, counts, NULL);
	struct cobalt_event_info info;
	cobalt_event_t event;
	pid_t waiter;
	int before;

	follow();
	check(!pthread_kill(thread, SIGSUSP));
	rest(10 * MS);
	before = counted;
	rest(10 * MS);
	check(counted == before && !pthread_kill(thread, SIGRESM));
	follow();
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	check(!cobalt_event_init(&event, 0, COBALT_EVENT_PRIO));
	blocked = start(60, blocks, &event);
	while (!cobalt_event_inquire(&event, &info, &waiter, sizeof(waiter)))
		rest(MS);
	check(info.nr_wait == 1 && waiter == cobalt_thread_pid(blocked) && !pthread_kill(blocked, SIGRELS));
	pthread_join(blocked, NULL);
	check(result_of_wait == -EINTR && !cobalt_event_destroy(&event));
	printf("ok pseudo signals\n");
	return nothing;
}

static void *timers(void *nothing)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct itimerspec periodic = { { 0, 2 * MS }, { 0, 2 * MS } }, value;
	struct timespec begin, end;
	siginfo_t info;
	timer_t timer;
	int i;

	event.sigev_value.sival_int = 5;
	check(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	check(!clock_gettime(CLOCK_MONOTONIC, &begin) && !timer_settime(timer, 0, &periodic, NULL));
	for (i = 0; i < 10; i++)
		check(sigwaitinfo(&both, &info) == SIGRTMIN && info.si_value.sival_int == 5 && info.si_code == SI_TIMER);
	check(!clock_gettime(CLOCK_MONOTONIC, &end));
	check((end.tv_sec - begin.tv_sec) * SECOND + end.tv_nsec - begin.tv_nsec >= 20 * MS);
	check(!timer_gettime(timer, &value) && value.it_interval.tv_nsec == 2 * MS && value.it_value.tv_nsec <= 2 * MS);
	/* Not taken for several periods. */
	rest(7 * MS);
	check(sigwaitinfo(&both, &info) == SIGRTMIN && info.si_overrun >= 2 && timer_getoverrun(timer) == info.si_overrun);
	value = (struct itimerspec){ { 0, 0 }, { 0, 0 } };
	check(!timer_settime(timer, 0, &value, NULL) && !timer_gettime(timer, &value) && !value.it_value.tv_nsec);
	check(!timer_delete(timer) && timer_delete(timer) == -1 && errno == EINVAL);
	printf("ok timers\n");
	return nothing;
}

static void *descriptors(void *nothing)
{
	struct itimerspec periodic = { { 0, 2 * MS }, { 0, 2 * MS } }, value;
	struct timeval moment = { 0, 1000 };
	unsigned long long times, sum = 0;
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), i;
	fd_set set;

	check(timer >= 0 && !timerfd_settime(timer, 0, &periodic, NULL));
	for (i = 0; i < 5; i++) {
		check(read(timer, &times, sizeof(times)) == sizeof(times));
		sum += times;
	}
	check(sum >= 5);
	rest(5 * MS);
	check(read(timer, &times, sizeof(times)) == sizeof(times) && times >= 2);
	FD_ZERO(&set);
	FD_SET(timer, &set);
	check(select(timer + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(timer, &set));
	check(read(timer, &times, sizeof(times)) == sizeof(times));
	value = (struct itimerspec){ { 0, 0 }, { 10, 0 } };
	check(!timerfd_settime(timer, 0, &value, NULL));
	check(select(timer + 1, &set, NULL, NULL, &moment) == 0 && !FD_ISSET(timer, &set));
	check(!timerfd_gettime(timer, &value) && value.it_value.tv_sec == 9);
	check(!close(timer) && read(timer, &times, sizeof(times)) == -1 && errno == EBADF);
	printf("ok timerfd\n");
	return nothing;
}

int main(void)
{
	static void *(*const tests[])(void *) = { sends, pseudo, timers, descriptors };
	unsigned int i;
	int status;

	check(cobalt_corectl(_CC_COBALT_GET_CORE_STATUS, &status, sizeof(status)) == sizeof(status));
	has_primary = status == COBALT_STATE_RUNNING;
	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &both, NULL);
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		pthread_join(start(50, tests[i], NULL), NULL);
	return 0;
}
