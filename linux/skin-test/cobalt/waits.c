// SPDX-License-Identifier: GPL-2.0-only
/* Waits of Cobalt's own objects, what ends them, clocks, and times that never come. */
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/cobalt.h>
#include <sys/time.h>

#include "../check.h"

#define NEVER { LONG_MAX, 999999999 }

static sem_t sem;
static volatile bool has_begun, has_ended;
static int got, reason;

static void *takes(void *nothing)
{
	has_begun = true;
	got = sem_wait(&sem);
	reason = got ? errno : 0;
	has_ended = true;
	return nothing;
}

static void *takes_in_time(void *nothing)
{
	static const struct timespec never = NEVER;

	has_begun = true;
	got = sem_timedwait(&sem, &never);
	reason = got ? errno : 0;
	has_ended = true;
	return nothing;
}

/* Until so many threads wait. */
static void wait_for(int count)
{
	struct cobalt_sem_info info;

	do {
		rest(MS / 4);
		check(cobalt_sem_inquire(&sem, &info, NULL, 0) >= 0);
	} while (info.nr_wait != count);
}

static void *semaphores(void *nothing)
{
	struct timespec past = { 0, 1 }, bad = { 0, SECOND }, end;
	struct cobalt_sem_info info;
	pthread_t threads[2];
	pid_t waiters[2];
	int value;

	check(sem_init_np(&sem, 0x100, 0) == -1 && errno == EINVAL);
	check(sem_init_np(&sem, SEM_PULSE, 1) == -1 && errno == EINVAL);
	check(sem_init_np(&sem, 0, 1U << 31) == -1 && errno == EINVAL);
	check(sem_broadcast_np(&sem) == -1 && errno == EINVAL && sem_post(&sem) == -1 && errno == EINVAL);
	/* What nobody waits for is not counted. */
	check(!sem_init_np(&sem, SEM_PULSE | SEM_REPORT | SEM_WARNDEL, 0) && !sem_post(&sem) && !sem_broadcast_np(&sem));
	check(sem_init_np(&sem, 0, 0) == -1 && errno == EBUSY);
	check(sem_trywait(&sem) == -1 && errno == EAGAIN && sem_timedwait(&sem, &past) == -1 && errno == ETIMEDOUT);
	check(sem_timedwait(&sem, &bad) == -1 && errno == EINVAL);
	threads[0] = start(55, takes, NULL);
	threads[1] = start(56, takes, NULL);
	wait_for(2);
	check(!sem_getvalue(&sem, &value) && value == -2);
	check(cobalt_sem_inquire(&sem, &info, waiters, sizeof(waiters)) == 2 && info.value == -2);
	check(waiters[0] == cobalt_thread_pid(threads[1]) && waiters[1] == cobalt_thread_pid(threads[0]));
	check(!sem_broadcast_np(&sem));
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	check(!got && !sem_getvalue(&sem, &value) && value == 0);
	/* Threads that wait hear of the end, and who ends it of them. */
	threads[0] = start(55, takes, NULL);
	wait_for(1);
	check(sem_destroy(&sem) == 1);
	pthread_join(threads[0], NULL);
	check(got == -1 && reason == EINVAL && sem_destroy(&sem) == -1 && errno == EINVAL);
	/* Not if they are not to be disturbed. Times are those of the other clock. */
	check(!sem_init_np(&sem, SEM_NOBUSYDEL | SEM_RAWCLOCK | SEM_FIFO, 0));
	end = soon(CLOCK_MONOTONIC, 2 * MS);
	check(sem_timedwait(&sem, &end) == -1 && errno == ETIMEDOUT);
	check(soon(CLOCK_MONOTONIC, 0).tv_sec > end.tv_sec || soon(CLOCK_MONOTONIC, 0).tv_nsec >= end.tv_nsec);
	threads[0] = start(55, takes, NULL);
	wait_for(1);
	check(sem_destroy(&sem) == -1 && errno == EBUSY);
	/* A thread that is kicked does not have it. */
	check(!pthread_kill(threads[0], SIGKICK));
	pthread_join(threads[0], NULL);
	check(got == -1 && reason == EINTR && !sem_getvalue(&sem, &value) && value == 0);
	threads[0] = start(55, takes_in_time, NULL);
	wait_for(1);
	check(!sem_post(&sem));
	pthread_join(threads[0], NULL);
	check(!got && !sem_destroy(&sem));
	printf("ok semaphores\n");
	return nothing;
}

static cobalt_event_t event;

static void *events(void *nothing)
{
	struct timespec past = { 0, 1 }, bad = { 0, -1 }, never = NEVER, end;
	struct cobalt_event_info info;
	unsigned int bits = 77;

	check(cobalt_event_init(&event, 0, 0x100) == -EINVAL && !cobalt_event_init(&event, 1, COBALT_EVENT_FIFO));
	check(cobalt_event_wait(&event, 2, &bits, COBALT_EVENT_ANY, &past) == -ETIMEDOUT);
	check(cobalt_event_wait(&event, 2, &bits, COBALT_EVENT_ANY, &bad) == -EINVAL && bits == 77);
	/* Times are those of CLOCK_MONOTONIC, as in all of Cobalt's own calls. */
	end = soon(CLOCK_MONOTONIC, 3 * MS);
	check(cobalt_event_wait(&event, 2, &bits, COBALT_EVENT_ANY, &end) == -ETIMEDOUT);
	check(soon(CLOCK_MONOTONIC, 0).tv_sec > end.tv_sec || soon(CLOCK_MONOTONIC, 0).tv_nsec >= end.tv_nsec);
	check(!cobalt_event_wait(&event, 0, &bits, COBALT_EVENT_ALL, &never) && bits == 1);
	check(!cobalt_event_inquire(&event, &info, NULL, 0) && info.value == 1 && info.nr_wait == 0);
	check(!cobalt_event_destroy(&event));
	printf("ok events\n");
	return nothing;
}

static cobalt_monitor_t monitor;
static struct xnthread_user_window *window;
static int inside, granted;

static void *is_granted(void *nothing)
{
	struct timespec never = NEVER;

	check(!cobalt_monitor_enter(&monitor));
	window = cobalt_get_current_window();
	inside++;
	check(!cobalt_monitor_wait(&monitor, COBALT_MONITOR_WAITGRANT, inside == 1 ? &never : NULL));
	granted++;
	check(!cobalt_monitor_exit(&monitor));
	return nothing;
}

static void *is_drained(void *nothing)
{
	check(!cobalt_monitor_enter(&monitor));
	inside++;
	check(!cobalt_monitor_wait(&monitor, COBALT_MONITOR_WAITDRAIN, NULL));
	granted++;
	check(!cobalt_monitor_exit(&monitor));
	return nothing;
}

/* Enters the monitor when so many threads wait in it. */
static void enter_with(int count)
{
	for (;;) {
		check(!cobalt_monitor_enter(&monitor));
		if (inside == count)
			return;
		check(!cobalt_monitor_exit(&monitor));
		rest(MS / 4);
	}
}

static void leave_until(int count)
{
	for (;;) {
		check(!cobalt_monitor_exit(&monitor));
		rest(MS / 4);
		check(!cobalt_monitor_enter(&monitor));
		if (granted == count)
			break;
	}
	check(!cobalt_monitor_exit(&monitor));
}

static void woken_by(void *(*waits)(void *), int (*wakes)(cobalt_monitor_t *), void (*does)(cobalt_monitor_t *), bool all)
{
	pthread_t threads[2];

	inside = granted = 0;
	threads[0] = start(40, waits, NULL);
	threads[1] = start(40, waits, NULL);
	enter_with(2);
	if (wakes)
		check(!wakes(&monitor));
	else
		does(&monitor);
	if (!all) {
		leave_until(1);
		enter_with(2);
		check(!cobalt_monitor_drain_all_sync(&monitor) && !cobalt_monitor_grant_all_sync(&monitor));
	}
	leave_until(2);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

static int grants_window(cobalt_monitor_t *of)
{
	return cobalt_monitor_grant_sync(of, window);
}

static void grants_window_later(cobalt_monitor_t *of)
{
	cobalt_monitor_grant(of, window);
}

static void *monitors(void *nothing)
{
	struct timespec end, past = { 0, 0 }, bad = { 0, SECOND };

	check(cobalt_monitor_enter(&monitor) == -EINVAL && cobalt_monitor_destroy(&monitor) == -EINVAL);
	check(cobalt_monitor_init(&monitor, CLOCK_MONOTONIC, COBALT_MONITOR_SHARED) == -EINVAL);
	check(!cobalt_monitor_init(&monitor, CLOCK_MONOTONIC, 0));
	/* Not for who is not inside. */
	check(cobalt_monitor_exit(&monitor) == -EPERM);
	check(cobalt_monitor_wait(&monitor, COBALT_MONITOR_WAITGRANT, &past) == -EPERM);
	check(!cobalt_monitor_enter(&monitor) && cobalt_monitor_enter(&monitor) == -EDEADLK);
	check(cobalt_monitor_wait(&monitor, COBALT_MONITOR_WAITGRANT, &bad) == -EINVAL);
	check(cobalt_monitor_wait(&monitor, COBALT_MONITOR_WAITDRAIN, &past) == -ETIMEDOUT);
	end = soon(CLOCK_MONOTONIC, 2 * MS);
	check(cobalt_monitor_wait(&monitor, COBALT_MONITOR_WAITGRANT, &end) == -ETIMEDOUT);
	check(cobalt_monitor_destroy(&monitor) == -EBUSY && !cobalt_monitor_exit(&monitor));
	woken_by(is_granted, grants_window, NULL, false);
	woken_by(is_granted, NULL, grants_window_later, false);
	woken_by(is_granted, cobalt_monitor_grant_all_sync, NULL, true);
	woken_by(is_granted, NULL, cobalt_monitor_grant_all, true);
	woken_by(is_drained, cobalt_monitor_drain_sync, NULL, false);
	woken_by(is_drained, NULL, cobalt_monitor_drain, false);
	woken_by(is_drained, cobalt_monitor_drain_all_sync, NULL, true);
	woken_by(is_drained, NULL, cobalt_monitor_drain_all, true);
	check(!cobalt_monitor_destroy(&monitor) && cobalt_monitor_exit(&monitor) == -EINVAL);
	printf("ok monitors\n");
	return nothing;
}

static void *clocks(void *nothing)
{
	struct timespec resolution, bad = { 0, SECOND }, negative = { -1, 0 }, past = { 0, 1 }, end;
	struct timeval day;
	time_t now;

	check(!clock_getres(CLOCK_MONOTONIC, &resolution) && resolution.tv_sec == 0 && resolution.tv_nsec > 0);
	check(!clock_getres(CLOCK_REALTIME, NULL) && clock_getres(77, &resolution) == -1 && errno == EINVAL);
	check(clock_gettime(77, &end) == -1 && errno == EINVAL);
	check(clock_settime(CLOCK_MONOTONIC, &resolution) == -1 && errno == EINVAL);
	check(clock_settime(CLOCK_REALTIME, &bad) == -1 && errno == EINVAL);
	check(clock_settime(77, &resolution) == -1 && errno == EINVAL);
	check(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL) == EINVAL && clock_nanosleep(77, 0, &past, NULL) == EINVAL);
	check(clock_nanosleep(CLOCK_MONOTONIC, 0, &negative, NULL) == EINVAL);
	check(!clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, NULL));
	check(nanosleep(&bad, NULL) == -1 && errno == EINVAL && nanosleep(&negative, NULL) == -1 && errno == EINVAL);
	end = soon(CLOCK_REALTIME, 2 * MS);
	check(!clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, NULL) && !usleep(100) && !sleep(0));
	check(!gettimeofday(&day, NULL) && time(&now) == now);
	/* time() tells the tick's second, which can be the one before. */
	check(day.tv_sec >= end.tv_sec && now >= day.tv_sec - 1 && now - day.tv_sec <= 60);
	printf("ok clocks\n");
	return nothing;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static bool is_done;

static void *waits_forever(void *nothing)
{
	static const struct timespec never = NEVER;

	check(!pthread_mutex_timedlock(&mutex, &never));
	while (!is_done) {
		has_begun = true;
		check(!pthread_cond_timedwait(&cond, &mutex, &never));
	}
	check(!pthread_mutex_unlock(&mutex) && !pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &never));
	while (is_done)
		check(!pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &never));
	check(!pthread_mutex_unlock(&mutex));
	return nothing;
}

static void set_done(bool done)
{
	check(!pthread_mutex_lock(&mutex));
	is_done = done;
	check(!pthread_cond_broadcast(&cond) && !pthread_mutex_unlock(&mutex));
}

static void *never_comes(void *nothing)
{
	const struct itimerspec never = { .it_value = NEVER, .it_interval = NEVER };
	struct sigevent sends = { .sigev_notify = SIGEV_NONE };
	struct itimerspec told;
	pthread_t thread;
	timer_t timer;

	has_begun = false;
	thread = start(55, waits_forever, NULL);
	while (!has_begun)
		rest(MS / 4);
	set_done(true);
	rest(MS);
	set_done(false);
	pthread_join(thread, NULL);
	check(!timer_create(CLOCK_MONOTONIC, &sends, &timer) && !timer_settime(timer, 0, &never, NULL));
	check(!timer_gettime(timer, &told) && told.it_value.tv_sec > 1000000000);
	check(!timer_delete(timer));
	printf("ok what never comes\n");
	return nothing;
}

int main(void)
{
	static void *(*const tests[])(void *) = { semaphores, events, monitors, clocks, never_comes };
	unsigned int i;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		check(!pthread_join(start(50, tests[i], NULL), NULL));
	return 0;
}
