// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program for EVL: threads, clocks, timers, mutexes, events, semaphores and flags, and nothing of
 * Pillion's. Each test says what it found; the first failure ends the program.
 */
#include <evl/evl.h>
#include <fcntl.h>
#include <signal.h>

#include "../check.h"

/* Whether there is primary mode; in Linux alone, all else is the same. */
static bool has_primary;

static bool is_primary(void)
{
	return !has_primary || !evl_is_inband();
}

/* Lets others run that long; in Linux alone longer, where they may have to wait for a processor. */
static int lets_run(int us)
{
	return evl_usleep(has_primary ? us : 20 * us);
}

static struct timespec later(int clockfd, long ns)
{
	struct timespec time;

	check(!evl_read_clock(clockfd, &time));
	time.tv_nsec += ns % SECOND;
	time.tv_sec += ns / SECOND + time.tv_nsec / SECOND;
	time.tv_nsec %= SECOND;
	return time;
}

static void *attaches(void *number)
{
	check(evl_attach_self("twin:%d", *(int *)number) >= 0);
	check(is_primary());
	return NULL;
}

static void *weak(void *nothing)
{
	struct evl_sched_attrs attrs;
	int efd = evl_attach_self(NULL);

	check(efd >= 0 && !evl_switch_oob() && evl_is_inband() && !evl_usleep(1000));
	check(!evl_get_schedattr(efd, &attrs) && attrs.sched_policy == SCHED_WEAK && !attrs.sched_priority);
	return nothing;
}

static void *threads(void *nothing)
{
	struct evl_thread_state state;
	struct timespec now;
	int efd, number = 7;

	check(evl_get_self() == -EPERM && evl_switch_oob() == -EPERM && evl_usleep(1) == -EPERM);
	efd = evl_attach_self("threads:%d", getpid());
	check(efd >= 0 && evl_get_self() == efd && evl_attach_self(NULL) == -EBUSY);
	has_primary = !evl_is_inband();
	check(!evl_switch_inband() && evl_is_inband());
	check(!evl_switch_oob() && is_primary());
	check(!evl_usleep(1000) && is_primary());
	getppid();
	check(evl_is_inband() && !evl_read_clock(EVL_CLOCK_MONOTONIC, &now));
	check(!evl_sleep_until(EVL_CLOCK_MONOTONIC, &now) && is_primary());
	check(!evl_get_state(efd, &state) && state.eattrs.sched_policy == SCHED_FIFO);
	check(state.eattrs.sched_priority == 50 && (state.isw >= 2 || !has_primary));
	check(evl_get_state(0, &state) == -EBADF);
	/* A name is free again when its thread has ended, and with its descriptor. */
	pthread_join(start(40, attaches, &number), NULL);
	pthread_join(start(40, attaches, &number), NULL);
	pthread_join(start(0, weak, NULL), NULL);
	check(!evl_detach_self() && evl_get_self() == -EPERM && evl_detach_self() == -EPERM);
	check(evl_get_state(efd, &state) == -ESRCH && !close(efd) && evl_get_state(efd, &state) == -EBADF);
	check(evl_get_version().api_level == __EVL__);
	printf("ok threads, in %s\n", has_primary ? "primary mode" : "Linux alone");
	return nothing;
}

static volatile sig_atomic_t warnings, cause;

static void is_warned(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	warnings++;
	cause = sigdebug_marked(info) ? sigdebug_cause(info) : -1;
}

static void *modes(void *nothing)
{
	struct sigaction action = { .sa_sigaction = is_warned, .sa_flags = SA_SIGINFO };
	struct evl_mutex mutex;
	int efd = evl_attach_self("modes"), old, i;

	check(efd >= 0 && !sigaction(SIGDEBUG, &action, NULL));
	check(evl_set_thread_mode(efd, 1, NULL) == -EINVAL);
	check(!evl_set_thread_mode(efd, T_WOSX | T_WOSO, &old) && old == T_HMSIG);
	check(!evl_clear_thread_mode(efd, EVL_T_WOSX | EVL_T_WOSO, &old) && old == (T_HMSIG | T_WOSX | T_WOSO));
	check(!evl_set_thread_mode(efd, EVL_T_WOSS, &old) && old == EVL_T_HMSIG);
	for (i = 1; has_primary && i <= 5; i++) {
		check(!evl_switch_oob());
		getppid();
		check(warnings == i && cause == EVL_HMDIAG_SYSDEMOTE);
	}
	check(!evl_clear_thread_mode(efd, EVL_T_WOSS, &old) && old == (EVL_T_HMSIG | EVL_T_WOSS));
	warnings = 0;
	check(!evl_switch_oob());
	getppid();
	check(!warnings);
	/* Mutexes that are not used as they should be. */
	check(evl_new_mutex(&mutex, NULL) >= 0 && !evl_set_thread_mode(efd, EVL_T_WOLI, NULL));
	check(evl_unlock_mutex(&mutex) == -EPERM && warnings == 1 && cause == EVL_HMDIAG_LKIMBALANCE);
	check(!evl_lock_mutex(&mutex) && !evl_usleep(1) && warnings == 2 && cause == EVL_HMDIAG_LKSLEEP);
	check(!evl_unlock_mutex(&mutex) && !evl_usleep(1) && warnings == 2 && !evl_close_mutex(&mutex));
	printf("ok modes\n");
	return nothing;
}

static void *timers(void *nothing)
{
	struct itimerspec value = { .it_interval = { 0, MS } }, old;
	int timer = evl_new_timer(EVL_CLOCK_MONOTONIC), i;
	struct timespec first, now;
	__u64 ticks = 0;

	check(timer >= 0 && evl_attach_self("timers") >= 0 && evl_new_timer(5) == -EINVAL);
	value.it_value = first = later(EVL_CLOCK_MONOTONIC, 5 * MS);
	check(!evl_set_timer(timer, &value, &old) && !old.it_value.tv_sec && !old.it_value.tv_nsec);
	for (i = 0; i < 20; i++)
		check(oob_read(timer, &ticks, sizeof(ticks)) == sizeof(ticks) && (ticks == 1 || !has_primary));
	check(!evl_read_clock(EVL_CLOCK_MONOTONIC, &now) && is_primary());
	check((now.tv_sec - first.tv_sec) * SECOND + now.tv_nsec - first.tv_nsec >= 19 * MS);
	check(!evl_usleep(3500) && oob_read(timer, &ticks, sizeof(ticks)) == sizeof(ticks) && ticks >= 3);
	check(!evl_get_timer(timer, &value) && !value.it_value.tv_sec && value.it_value.tv_nsec <= MS);
	check(value.it_interval.tv_nsec == MS);
	/* A descriptor that does not wait. */
	check(!fcntl(timer, F_SETFL, O_NONBLOCK) && !evl_set_timer(timer, &(struct itimerspec){ 0 }, NULL));
	check(oob_read(timer, &ticks, sizeof(ticks)) == -1 && errno == EAGAIN);
	check(oob_read(timer, &ticks, 4) == -1 && errno == EINVAL);
	check(oob_write(timer, &ticks, sizeof(ticks)) == -1 && oob_ioctl(timer, 1) == -1 && errno == ENOTTY);
	check(!close(timer) && oob_read(timer, &ticks, sizeof(ticks)) == -1 && errno == EBADF);
	printf("ok timers\n");
	return nothing;
}

static struct evl_mutex mutex = EVL_MUTEX_INITIALIZER("mutex", EVL_CLOCK_MONOTONIC, 0, EVL_MUTEX_NORMAL);
static struct evl_event event = EVL_EVENT_INITIALIZER("event", EVL_CLOCK_MONOTONIC, EVL_CLONE_PRIVATE);
static struct evl_sem empty, full = EVL_SEM_INITIALIZER(NULL, EVL_CLOCK_MONOTONIC, 0, EVL_CLONE_PRIVATE);
static int slots[4], first, last, turn;
static unsigned long sum;

static void *produces(void *nothing)
{
	int i;

	check(evl_attach_self("producer") >= 0);
	for (i = 1; i <= 1000; i++) {
		check(!evl_get_sem(&empty) && !evl_lock_mutex(&mutex));
		slots[last++ % 4] = i;
		check(!evl_unlock_mutex(&mutex) && !evl_put_sem(&full));
	}
	check(is_primary());
	return nothing;
}

static void *consumes(void *nothing)
{
	int i;

	check(evl_attach_self("consumer") >= 0);
	for (i = 1; i <= 1000; i++) {
		check(!evl_get_sem(&full) && !evl_lock_mutex(&mutex));
		sum += slots[first++ % 4];
		check(!evl_unlock_mutex(&mutex) && !evl_put_sem(&empty));
	}
	return nothing;
}

/* A bounded buffer between threads of two priorities, one of which may be a weak one. */
static void buffer(int consumer)
{
	pthread_t threads[2];
	int value;

	first = last = 0;
	sum = 0;
	check(evl_create_sem(&empty, EVL_CLOCK_MONOTONIC, 4, EVL_CLONE_PRIVATE, "empty") >= 0);
	threads[0] = start(50, produces, NULL);
	threads[1] = start(consumer, consumes, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	check(sum == 1000 * 1001 / 2);
	check(!evl_peek_sem(&empty, &value) && value == 4 && !evl_close_sem(&empty));
	check(evl_put_sem(&empty) == -EINVAL);
	printf("ok buffer, priority %d\n", consumer);
}

static void *takes_turns(void *own)
{
	int i;

	check(evl_attach_self("turn:%d", *(int *)own) >= 0);
	for (i = 0; i < 100; i++) {
		check(!evl_lock_mutex(&mutex));
		while (turn % 3 != *(int *)own)
			check(!evl_wait_event(&event, &mutex));
		turn++;
		check(!evl_broadcast_event(&event) && !evl_unlock_mutex(&mutex));
	}
	return NULL;
}

static int woken[3], efds[3];

static void *waits(void *own)
{
	int number = *(int *)own;

	efds[number] = evl_attach_self(NULL);
	check(efds[number] >= 0 && !evl_lock_mutex(&mutex));
	check(!evl_wait_event(&event, &mutex));
	woken[number] = ++turn;
	check(!evl_unlock_mutex(&mutex));
	return NULL;
}

static void *events(void *nothing)
{
	static int numbers[3] = { 0, 1, 2 };
	struct timespec end;
	pthread_t threads[3];
	int i;

	for (i = 0; i < 3; i++)
		threads[i] = start(i ? 40 + i : 0, takes_turns, &numbers[i]);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	check(turn == 300 && evl_attach_self("events") >= 0);
	/* The most urgent one first, but for one that is meant. */
	turn = 0;
	for (i = 0; i < 3; i++)
		threads[i] = start(30 + i, waits, &numbers[i]);
	check(!lets_run(20000));
	check(!evl_signal_thread(&event, efds[1]) && !lets_run(5000) && woken[1] == 1);
	check(!evl_signal_thread(&event, efds[1]) && !evl_signal_event(&event) && !lets_run(5000) && woken[2] == 2);
	check(!evl_signal_event(&event) && !lets_run(5000) && woken[0] == 3);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	end = later(EVL_CLOCK_MONOTONIC, MS);
	check(evl_wait_event(&event, &mutex) == -EPERM && !evl_lock_mutex(&mutex));
	check(evl_timedwait_event(&event, &mutex, &end) == -ETIMEDOUT && !evl_unlock_mutex(&mutex) && is_primary());
	printf("ok events\n");
	return nothing;
}

static void *holds(void *of)
{
	check(evl_attach_self("holder") >= 0 && !evl_lock_mutex(of) && !lets_run(20000) && !evl_unlock_mutex(of));
	return NULL;
}

static void *locks_and_ends(void *of)
{
	check(evl_attach_self("ender") >= 0 && !evl_lock_mutex(of));
	return NULL;
}

static void *mutexes(void *nothing)
{
	struct evl_mutex own, same, recursive;
	struct timespec end;
	pthread_t thread;

	check(evl_attach_self("mutexes") >= 0);
	check(evl_new_mutex(&own, "/own:%d", 3) >= 0 && evl_new_mutex(&same, "own:3") == -EEXIST);
	check(evl_open_mutex(&same, "/other") == -ENOENT && evl_open_mutex(&same, "/own:3") >= 0);
	check(!evl_lock_mutex(&own) && evl_lock_mutex(&same) == -EDEADLK && !evl_unlock_mutex(&same));
	check(evl_unlock_mutex(&own) == -EPERM && !evl_close_mutex(&own) && evl_lock_mutex(&own) == -EINVAL);
	thread = start(30, holds, &same);
	check(!lets_run(5000));
	end = later(EVL_CLOCK_MONOTONIC, MS);
	check(evl_trylock_mutex(&same) == -EBUSY && evl_timedlock_mutex(&same, &end) == -ETIMEDOUT);
	check(!evl_lock_mutex(&same) && is_primary() && !evl_unlock_mutex(&same));
	pthread_join(thread, NULL);
	/* A thread that ends in primary mode leaves nothing locked. */
	if (has_primary)
		pthread_join(start(30, locks_and_ends, &same), NULL);
	check(!evl_trylock_mutex(&same) && !evl_unlock_mutex(&same) && !evl_close_mutex(&same));
	check(evl_create_mutex(&recursive, EVL_CLOCK_REALTIME, 0, EVL_MUTEX_RECURSIVE, NULL) >= 0);
	check(!evl_lock_mutex(&recursive) && !evl_trylock_mutex(&recursive));
	check(!evl_unlock_mutex(&recursive) && !evl_unlock_mutex(&recursive) && !evl_close_mutex(&recursive));
	check(evl_lock_mutex((struct evl_mutex *)&empty) == -EINVAL);
	printf("ok mutexes\n");
	return nothing;
}

static int results[2];

static void *gets(void *of)
{
	efds[0] = evl_attach_self(NULL);
	results[0] = evl_get_sem(of);
	return NULL;
}

static void is_waited_for(struct evl_sem *sem)
{
	int value;

	do
		check(!evl_usleep(1000) && !evl_peek_sem(sem, &value));
	while (value != -1);
}

static void *sems(void *nothing)
{
	struct timespec end;
	struct evl_sem sem;
	pthread_t thread;

	check(evl_attach_self("sems") >= 0 && evl_new_sem(&sem, "sem") >= 0);
	end = later(EVL_CLOCK_MONOTONIC, MS);
	check(evl_tryget_sem(&sem) == -EAGAIN && evl_timedget_sem(&sem, &end) == -ETIMEDOUT);
	thread = start(30, gets, &sem);
	is_waited_for(&sem);
	check(!evl_flush_sem(&sem) && !pthread_join(thread, NULL) && results[0] == -EAGAIN);
	thread = start(30, gets, &sem);
	is_waited_for(&sem);
	check(!evl_unblock_thread(efds[0]));
	check(!pthread_join(thread, NULL) && results[0] == -EINTR);
	thread = start(30, gets, &sem);
	is_waited_for(&sem);
	check(!evl_demote_thread(efds[0]));
	check(!pthread_join(thread, NULL) && results[0] == -EINTR && evl_demote_thread(efds[0]) == -ESRCH);
	/* A thread that is cancelled waits no more, and takes nothing. */
	thread = start(30, gets, &sem);
	is_waited_for(&sem);
	check(!pthread_cancel(thread) && !pthread_join(thread, NULL) && !evl_put_sem(&sem) && !evl_tryget_sem(&sem));
	thread = start(30, gets, &sem);
	is_waited_for(&sem);
	check(!evl_close_sem(&sem) && !pthread_join(thread, NULL) && results[0] == -EIDRM);
	printf("ok sems\n");
	return nothing;
}

static volatile bool stops;

static void *computes(void *nothing)
{
	efds[0] = evl_attach_self("computes");
	check(efds[0] >= 0);
	while (!stops)
		;
	check(evl_is_inband());
	return nothing;
}

/* A thread that does not wait is made an ordinary one. */
static void *demotes(void *nothing)
{
	struct evl_thread_state state;
	pthread_t thread;

	check(evl_attach_self("demotes") >= 0);
	efds[0] = -1;
	thread = start(30, computes, NULL);
	check(!lets_run(20000) && efds[0] >= 0 && !evl_demote_thread(efds[0]) && !lets_run(50000));
	check(!evl_get_state(efds[0], &state) && state.eattrs.sched_policy == SCHED_WEAK);
	check(state.state & EVL_T_WEAK);
	check(state.state & EVL_T_INBAND);
	stops = true;
	pthread_join(thread, NULL);
	printf("ok demotion\n");
	return nothing;
}

static struct evl_flags flags = EVL_FLAGS_INITIALIZER("flags", EVL_CLOCK_MONOTONIC, 1, EVL_CLONE_PRIVATE);

static void *waits_for_some(void *number)
{
	check(evl_attach_self(NULL) >= 0);
	check(!evl_wait_some_flags(&flags, 6, &results[*(int *)number]));
	return NULL;
}

static void *waits_for_all(void *nothing)
{
	check(evl_attach_self(NULL) >= 0 && !evl_wait_exact_flags(&flags, 0x30));
	return nothing;
}

static void *groups(void *nothing)
{
	static int numbers[2] = { 0, 1 };
	pthread_t threads[2];
	struct timespec end;
	int bits, i;

	check(evl_attach_self("flags") >= 0 && !evl_peek_flags(&flags, &bits) && bits == 1);
	check(!evl_wait_flags(&flags, &bits) && bits == 1 && evl_trywait_flags(&flags, &bits) == -EAGAIN);
	end = later(EVL_CLOCK_MONOTONIC, MS);
	check(evl_timedwait_flags(&flags, &end, &bits) == -ETIMEDOUT && is_primary());
	check(evl_post_flags(&flags, 0) == -EINVAL && !evl_post_flags(&flags, 9));
	check(evl_trywait_some_flags(&flags, 6, &bits) == -EAGAIN);
	check(!evl_trywait_some_flags(&flags, 10, &bits) && bits == 8 && !evl_trywait_flags(&flags, NULL));
	for (i = 0; i < 2; i++)
		threads[i] = start(30 + i, waits_for_some, &numbers[i]);
	check(!lets_run(10000) && !evl_broadcast_flags(&flags, 0x102));
	for (i = 0; i < 2; i++)
		check(!pthread_join(threads[i], NULL) && results[i] == 2);
	check(!evl_trywait_flags(&flags, &bits) && bits == 0x100);
	results[0] = results[1] = 0;
	for (i = 0; i < 2; i++)
		threads[i] = start(30 + i, waits_for_some, &numbers[i]);
	/* Who is more urgent takes them; the other one gets the next. */
	check(!lets_run(10000) && !evl_post_flags(&flags, 6) && !lets_run(5000) && results[1] == 6 && !results[0]);
	check(!evl_post_flags(&flags, 4));
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	check(results[0] == 4);
	threads[0] = start(30, waits_for_all, NULL);
	check(!lets_run(5000) && !evl_post_flags(&flags, 0x10) && !evl_usleep(1000) && !evl_peek_flags(&flags, &bits));
	check(bits == 0x10 && !evl_post_flags(&flags, 0x20) && !pthread_join(threads[0], NULL));
	check(!evl_peek_flags(&flags, &bits) && !bits && !evl_close_flags(&flags));
	printf("ok flags\n");
	return nothing;
}

static void *clocks(void *nothing)
{
	struct timespec time, resolution;
	int efd = evl_attach_self("clocks"), state;
	struct evl_sched_attrs attrs = { .sched_policy = SCHED_RR, .sched_priority = 20 };

	check(efd >= 0 && !evl_get_clock_resolution(EVL_CLOCK_REALTIME, &resolution) && resolution.tv_nsec >= 1);
	check(evl_read_clock(7, &time) == -EBADF && evl_set_clock(EVL_CLOCK_MONOTONIC, &resolution) == -EINVAL);
	time = later(EVL_CLOCK_REALTIME, MS);
	check(!evl_sleep_until(EVL_CLOCK_REALTIME, &time) && is_primary());
	time.tv_nsec = SECOND;
	check(evl_sleep_until(EVL_CLOCK_REALTIME, &time) == -EINVAL);
	check(!evl_set_schedattr(efd, &attrs) && is_primary() && !evl_yield());
	memset(&attrs, 0, sizeof(attrs));
	check(!evl_get_schedattr(efd, &attrs) && attrs.sched_policy == SCHED_RR && attrs.sched_priority == 20);
	attrs.sched_policy = SCHED_QUOTA;
	check(evl_set_schedattr(efd, &attrs) == -EINVAL);
	check(!evl_get_cpustate(0, &state) && state == EVL_CPU_OOB && evl_get_cpustate(-1, &state) == -EINVAL);
	printf("ok clocks\n");
	return nothing;
}

int main(void)
{
	static void *(*const tests[])(void *) = { threads, modes, timers, clocks, events, mutexes, sems, demotes, groups };
	unsigned int i;

	check(!evl_init());
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_join(start(50, tests[0], NULL), NULL);
	buffer(60);
	buffer(40);
	buffer(0);
	for (i = 1; i < sizeof(tests) / sizeof(tests[0]); i++)
		pthread_join(start(50, tests[i], NULL), NULL);
	printf("ok objects\n");
	return 0;
}
