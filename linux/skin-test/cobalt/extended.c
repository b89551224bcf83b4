// SPDX-License-Identifier: GPL-2.0-only
/* Scheduling and attributes beyond POSIX, and POSIX's own that nothing else here uses. */
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/cobalt.h>
#include <sys/syscall.h>
#include <sys/timex.h>

#include "../check.h"

/* In Linux alone, a thread is never in primary mode. */
static bool is_primary(void)
{
	int status;

	check(cobalt_corectl(_CC_COBALT_GET_CORE_STATUS, &status, sizeof(status)) == sizeof(status));
	return status != COBALT_STATE_RUNNING || !(cobalt_thread_mode() & XNRELAX);
}

static void *limits(void *nothing)
{
	static const int absent[] = { SCHED_SPORADIC, SCHED_TP, SCHED_QUOTA, 77 };
	union sched_config config;
	unsigned int i;
	size_t needed;

	check(sched_get_priority_min(SCHED_FIFO) == 1 && sched_get_priority_max(SCHED_FIFO) == 99);
	check(sched_get_priority_min(SCHED_OTHER) == 0 && sched_get_priority_max(SCHED_OTHER) == 0);
	check(sched_get_priority_min_ex(SCHED_RR) == 1 && sched_get_priority_max_ex(SCHED_RR) == 99);
	check(sched_get_priority_min_ex(SCHED_WEAK) == 0 && sched_get_priority_max_ex(SCHED_WEAK) == 99);
	check(sched_get_priority_min_ex(SCHED_COBALT) == 1 && sched_get_priority_max_ex(SCHED_COBALT) >= 99);
	for (i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		check(sched_get_priority_min_ex(absent[i]) == -1 && errno == EINVAL);
		check(sched_get_priority_max_ex(absent[i]) == -1 && errno == EINVAL);
		check(sched_setconfig_np(0, absent[i], &config, sizeof(config)) == EINVAL);
		check(sched_getconfig_np(0, absent[i], &config, sizeof(config), &needed) == -EINVAL);
	}
	return nothing;
}

static void *policies(void *nothing)
{
	struct sched_param_ex extended = { .sched_priority = 40 };
	struct sched_param parameters = { .sched_priority = 30 };
	int policy;

	check(sched_getscheduler(0) == SCHED_FIFO && !sched_setscheduler(0, SCHED_RR, &parameters));
	check(!pthread_getschedparam(pthread_self(), &policy, &parameters) && policy == SCHED_RR);
	check(parameters.sched_priority == 30 && !pthread_setschedprio(pthread_self(), 35));
	check(!pthread_getschedparam_ex(pthread_self(), &policy, &extended) && policy == SCHED_RR);
	check(extended.sched_priority == 35);
	/* Errors: of POSIX's function in errno, of the other one as its result. */
	parameters.sched_priority = 100;
	check(sched_setscheduler(0, SCHED_FIFO, &parameters) == -1 && errno == EINVAL);
	check(sched_setscheduler(0, 77, &parameters) == -1 && errno == EINVAL);
	check(sched_setscheduler(-1, SCHED_FIFO, &parameters) == -1 && errno == EINVAL);
	check(sched_getscheduler(-1) == -1 && errno == EINVAL);
	check(pthread_setschedprio(pthread_self(), 100) == EINVAL);
	extended.sched_priority = 40;
	check(sched_setscheduler_ex(0, SCHED_QUOTA, &extended) == EINVAL);
	check(sched_setscheduler_ex(0x3fffffff, SCHED_FIFO, &extended) == ESRCH);
	check(sched_getscheduler_ex(0x3fffffff, &policy, &extended) == ESRCH);
	/* By its number, and with the wish that children be ordinary ones. */
	check(!sched_setscheduler_ex(syscall(SYS_gettid), SCHED_FIFO, &extended));
	check(!sched_getscheduler_ex(0, &policy, &extended) && policy == SCHED_FIFO && extended.sched_priority == 40);
	parameters.sched_priority = 0;
	check(!sched_setscheduler(0, SCHED_OTHER, &parameters) && sched_getscheduler(0) == SCHED_OTHER);
	parameters.sched_priority = 30;
	check(!sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) && is_primary());
	check(sched_getscheduler(0) == (SCHED_FIFO | SCHED_RESET_ON_FORK));
	check(!sched_getscheduler_ex(0, &policy, &extended) && policy == SCHED_FIFO && extended.sched_priority == 30);
	check(!pthread_getschedparam(pthread_self(), &policy, &parameters) && policy == SCHED_FIFO);
	/* What a mode changes is not told. */
	check(!pthread_setmode_np(0, PTHREAD_LOCK_SCHED, NULL));
	check(!pthread_getschedparam(pthread_self(), &policy, &parameters) && parameters.sched_priority == 30);
	check(!pthread_setmode_np(PTHREAD_LOCK_SCHED, 0, NULL) && is_primary());
	check(!sched_yield() && !__RT(pthread_yield()) && is_primary());
	extended.sched_priority = 0;
	check(!pthread_setschedparam_ex(pthread_self(), SCHED_WEAK, &extended));
	check(!pthread_getschedparam_ex(pthread_self(), &policy, &extended) && policy == SCHED_OTHER);
	printf("ok policies\n");
	return nothing;
}

static void *tells_policy(void *told)
{
	struct sched_param_ex parameters;

	check(!pthread_getschedparam_ex(pthread_self(), told, &parameters));
	return (void *)(long)parameters.sched_priority;
}

static void *attributes(void *nothing)
{
	struct sched_param_ex parameters = { .sched_priority = 33 };
	pthread_attr_ex_t attributes;
	pthread_t thread;
	size_t size;
	void *result;
	int value;

	check(!pthread_attr_init_ex(&attributes));
	check(!pthread_attr_getdetachstate_ex(&attributes, &value) && value == PTHREAD_CREATE_JOINABLE);
	check(!pthread_attr_setdetachstate_ex(&attributes, PTHREAD_CREATE_DETACHED));
	check(!pthread_attr_getdetachstate_ex(&attributes, &value) && value == PTHREAD_CREATE_DETACHED);
	check(!pthread_attr_setdetachstate_ex(&attributes, PTHREAD_CREATE_JOINABLE));
	check(pthread_attr_setdetachstate_ex(&attributes, 77) == EINVAL);
	check(!pthread_attr_setstacksize_ex(&attributes, 256 << 10) && pthread_attr_setstacksize_ex(&attributes, 1) == EINVAL);
	check(!pthread_attr_getstacksize_ex(&attributes, &size) && size == 256 << 10);
	check(!pthread_attr_getscope_ex(&attributes, &value) && value == PTHREAD_SCOPE_SYSTEM);
	check(!pthread_attr_setscope_ex(&attributes, PTHREAD_SCOPE_SYSTEM));
	check(pthread_attr_setscope_ex(&attributes, PTHREAD_SCOPE_PROCESS) == ENOTSUP);
	check(!pthread_attr_setpersonality_ex(&attributes, 3) && !pthread_attr_getpersonality_ex(&attributes, &value));
	check(value == 3 && !pthread_attr_setpersonality_ex(&attributes, 0));
	check(!pthread_attr_setinheritsched_ex(&attributes, PTHREAD_EXPLICIT_SCHED));
	check(!pthread_attr_getinheritsched_ex(&attributes, &value) && value == PTHREAD_EXPLICIT_SCHED);
	check(pthread_attr_setinheritsched_ex(&attributes, 77) == EINVAL);
	check(!pthread_attr_setschedpolicy_ex(&attributes, SCHED_COBALT));
	check(!pthread_attr_getschedpolicy_ex(&attributes, &value) && value == SCHED_COBALT);
	check(!pthread_attr_setschedparam_ex(&attributes, &parameters));
	parameters.sched_priority = 0;
	check(!pthread_attr_getschedparam_ex(&attributes, &parameters) && parameters.sched_priority == 33);
	check(!pthread_create_ex(&thread, &attributes, tells_policy, &value) && !pthread_join(thread, &result));
	check(value == SCHED_FIFO && (long)result == 33);
	/* The creator's, whatever the attributes say. */
	check(!pthread_attr_setinheritsched_ex(&attributes, PTHREAD_INHERIT_SCHED));
	check(!pthread_create_ex(&thread, &attributes, tells_policy, &value) && !pthread_join(thread, &result));
	check(value == SCHED_FIFO && (long)result == 50);
	check(!pthread_attr_setinheritsched_ex(&attributes, PTHREAD_EXPLICIT_SCHED));
	check(!pthread_attr_setschedpolicy_ex(&attributes, SCHED_TP));
	check(pthread_create_ex(&thread, &attributes, tells_policy, &value) == EINVAL);
	check(!pthread_attr_destroy_ex(&attributes));
	printf("ok attributes\n");
	return nothing;
}

static void *of_objects(void *nothing)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;
	clockid_t clock;
	int value;

	check(!pthread_mutexattr_init(&mutex) && !pthread_mutexattr_gettype(&mutex, &value));
	check(value == PTHREAD_MUTEX_DEFAULT && !pthread_mutexattr_getprotocol(&mutex, &value) && value == PTHREAD_PRIO_NONE);
	check(!pthread_mutexattr_getpshared(&mutex, &value) && value == PTHREAD_PROCESS_PRIVATE);
	check(!pthread_mutexattr_setprotocol(&mutex, PTHREAD_PRIO_PROTECT) && !pthread_mutexattr_setprioceiling(&mutex, 20));
	check(!pthread_mutexattr_getprioceiling(&mutex, &value) && value == 20);
	check(!pthread_mutexattr_getprotocol(&mutex, &value) && value == PTHREAD_PRIO_PROTECT);
	check(!pthread_mutexattr_settype(&mutex, PTHREAD_MUTEX_RECURSIVE) && !pthread_mutexattr_gettype(&mutex, &value));
	check(value == PTHREAD_MUTEX_RECURSIVE && pthread_mutexattr_settype(&mutex, 77) == EINVAL);
	check(pthread_mutexattr_setprotocol(&mutex, 77) == EINVAL && pthread_mutexattr_setprioceiling(&mutex, 100) == EINVAL);
	check(!pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED) && !pthread_mutexattr_getpshared(&mutex, &value));
	check(value == PTHREAD_PROCESS_SHARED && pthread_mutexattr_setpshared(&mutex, 77) == EINVAL);
	check(!pthread_mutexattr_destroy(&mutex));
	check(!pthread_condattr_init(&cond) && !pthread_condattr_getclock(&cond, &clock) && clock == CLOCK_REALTIME);
	check(!pthread_condattr_setclock(&cond, CLOCK_MONOTONIC) && !pthread_condattr_getclock(&cond, &clock));
	check(clock == CLOCK_MONOTONIC && pthread_condattr_setclock(&cond, 77) == EINVAL);
	check(!pthread_condattr_getpshared(&cond, &value) && value == PTHREAD_PROCESS_PRIVATE);
	check(!pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED) && !pthread_condattr_getpshared(&cond, &value));
	check(value == PTHREAD_PROCESS_SHARED && pthread_condattr_setpshared(&cond, 77) == EINVAL);
	check(!pthread_condattr_destroy(&cond));
	printf("ok attributes of objects\n");
	return nothing;
}

static void *takes_own_period(void *is_given)
{
	struct timespec period = { 0, MS }, begin, end;

	while (!*(volatile bool *)is_given)
		rest(MS / 4);
	check(!pthread_make_periodic_np(pthread_self(), NULL, &period));
	check(!clock_gettime(CLOCK_MONOTONIC, &begin));
	check(pthread_wait_np(NULL) != EWOULDBLOCK && !clock_gettime(CLOCK_MONOTONIC, &end));
	check(end.tv_sec - begin.tv_sec < 20);
	return NULL;
}

/* A period that another thread gave it is none any more when a thread has one of its own. */
static void *periods(void *nothing)
{
	struct timespec long_one = { 60, 0 }, bad = { 0, SECOND };
	bool is_given = false;
	pthread_t thread = start(45, takes_own_period, &is_given);

	check(pthread_make_periodic_np(pthread_self(), NULL, &bad) == EINVAL);
	while (cobalt_thread_pid(thread) < 0)
		rest(MS / 4);
	check(!pthread_make_periodic_np(thread, NULL, &long_one));
	is_given = true;
	check(!cobalt_thread_join(thread));
	printf("ok periods\n");
	return nothing;
}

static void *others(void *nothing)
{
	struct sched_param_ex parameters = { .sched_priority = 30 };
	struct timespec end = soon(CLOCK_MONOTONIC, 2 * MS);
	pid_t tid = syscall(SYS_gettid);
	struct cobalt_threadstat stat;
	struct timex change = { 0 };
	siginfo_t info;
	sigset_t set;
	sem_t sem;

	check(!pthread_setname_np(pthread_self(), "a name of more than sixteen") && !cobalt_thread_stat(0, &stat));
	check(!strcmp(stat.name, "a name of more than sixteen") && !pthread_set_name_np(pthread_self(), "short"));
	check(!cobalt_thread_stat(tid, &stat) && !strcmp(stat.name, "short"));
	check(!cobalt_thread_probe(tid) && cobalt_thread_probe(0x3fffffff) == -ESRCH);
	check(cobalt_thread_stat(0x3fffffff, &stat) == -ESRCH);
	check(cobalt_sched_weighted_prio(SCHED_FIFO, &parameters) == 30);
	check(cobalt_sched_weighted_prio(SCHED_QUOTA, &parameters) == -EINVAL);
	check(!pthread_set_mode_np(0, PTHREAD_CONFORMING) && pthread_set_mode_np(0, 1) == EINVAL);
	check(!sem_init(&sem, 0, 0) && sem_clockwait(&sem, CLOCK_MONOTONIC, &end) == -1 && errno == ETIMEDOUT);
	check(clock_adjtime(CLOCK_REALTIME, &change) >= 0 && clock_adjtime(77, &change) == -1);
	/* A signal to the thread by its number waits for it. */
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	check(!pthread_sigmask(SIG_BLOCK, &set, NULL) && !kill(tid, SIGRTMIN) && sigwaitinfo(&set, &info) == SIGRTMIN);
	check(info.si_pid == getpid() && kill(0x3fffffff, 0) == -1 && errno == ESRCH);
	cobalt_thread_relax();
	cobalt_assert_nrt();
	printf("ok others\n");
	return nothing;
}

int main(void)
{
	static void *(*const tests[])(void *) = { limits, policies, attributes, of_objects, periods, others };
	unsigned int i;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		check(!pthread_join(start(50, tests[i], NULL), NULL));
	return 0;
}
