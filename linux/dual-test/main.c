// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests dual mode from within Linux: `dual-test [native] [NAME...]`. With `native`, no process is
 * marked, and all must be good too. `dual-test stay` is in primary mode for three seconds,
 * `dual-test outlive`, `outlive-fifos` and `outlive-queues` until Linux has died, `dual-test
 * minute` compares clocks for a minute, `dual-test while-odd` reads them while Linux stops, and
 * `dual-test urgent` is for a system of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* Longest time of a test, in seconds. */
#define LIMIT 120

static const struct test {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "registers", registers },
	{ "registers-at-faults", registers_at_faults },
	{ "registers-at-signals", registers_at_signals },
	{ "registers-traced", registers_traced },
	{ "times", times },
	{ "clocks", clocks },
	{ "clocks-between-threads", clocks_between_threads },
	{ "vdso", vdso },
	{ "interrupted-absolute", interrupted_absolute },
	{ "interrupted-relative", interrupted_relative },
	{ "interrupted-computation", interrupted_computation },
	{ "stopped", stopped },
	{ "restarts-of-32-bits", restarts_of_32_bits },
	{ "killed", killed },
	{ "killed-without-budget", killed_without_budget },
	{ "kill-storm", kill_storm },
	{ "exit-of-another", exit_of_another },
	{ "room", room },
	{ "forks", forks },
	{ "threads", threads },
	{ "executes", executes },
	{ "prepares", prepares },
	{ "report", report },
	{ "obstacles", obstacles },
	{ "traced", traced },
	{ "exceptions", exceptions },
	{ "faults", faults },
	{ "faults-of-later", faults_of_later },
	{ "modes", modes },
	{ "counts-live", counts_live },
	{ "recalled", recalled },
	{ "unmarked", unmarked },
	{ "warns", warns },
	{ "debugs", debugs },
	{ "debugs-of-memory", debugs_of_memory },
	{ "debugs-begin", debugs_begin },
	{ "debugs-of-owners", debugs_of_owners },
	{ "watchdog", watchdog },
	{ "freezer", freezer },
	{ "permissions", permissions },
	{ "ended-many", ended_many },
	{ "set-user-id", set_user_id },
	{ "semaphores", semaphores },
	{ "mutexes", mutexes },
	{ "mutex-inherits", mutex_inherits },
	{ "conditions", conditions },
	{ "event-flags", event_flags },
	{ "periods", periods },
	{ "objects-end", objects_end },
	{ "memories", memories },
	{ "services-interrupted", services_interrupted },
	{ "services-registers", services_registers },
	{ "futex-results", futex_results },
	{ "futex-order", futex_order },
	{ "futex-turns", futex_turns },
	{ "futex-early", futex_early },
	{ "futex-interrupted", futex_interrupted },
	{ "futex-of-linux", futex_of_linux },
	{ "futex-memory", futex_memory },
	{ "futex-storm", futex_storm },
	{ "futex-killed", futex_killed },
	{ "event-results", event_results },
	{ "event-of-x32", event_of_x32 },
	{ "event-registers", event_registers },
	{ "event-turns", event_turns },
	{ "event-polled", event_polled },
	{ "event-edges", event_edges },
	{ "timer-periods", timer_periods },
	{ "timer-settings", timer_settings },
	{ "timer-sets", timer_sets },
	{ "timer-counts", timer_counts },
	{ "timer-offsets", timer_offsets },
	{ "files-closed", files_closed },
	{ "files-shared", files_shared },
	{ "files-interrupted", files_interrupted },
	{ "files-left", files_left },
	{ "files-many", files_many },
	{ "queue-results", queue_results },
	{ "queue-longest", queue_longest },
	{ "queue-errors", queue_errors },
	{ "queue-attributes", queue_attributes },
	{ "queue-turns", queue_turns },
	{ "queue-order", queue_order },
	{ "queue-interrupted", queue_interrupted },
	{ "queue-processes", queue_processes },
	{ "queue-ends", queue_ends },
	{ "queue-polled", queue_polled },
	{ "queue-notified", queue_notified },
	{ "queue-told-by-others", queue_told_by_others },
	{ "queue-told-beside-readers", queue_told_beside_readers },
	{ "queue-shown", queue_shown },
	{ "queue-many", queue_many },
	{ "queue-storm", queue_storm },
	{ "queue-cost", queue_cost },
	{ "expiries", expiries },
	{ "expiries-set", expiries_set },
	{ "expiries-disturbed", expiries_disturbed },
	{ "expiries-unsaid", expiries_unsaid },
	{ "posix-mutexes", posix_mutexes },
	{ "posix-conditions", posix_conditions },
	{ "posix-others", posix_others },
	{ "posix-inherits", posix_inherits },
	{ "processors-stay", processors_stay },
	{ "processors-each", processors_each },
	{ "processors-moved", processors_moved },
	{ "processors-on-line", processors_on_line },
	{ "processors-lock", processors_lock },
	{ "processors-signals", processors_signals },
	{ "processors-kills", processors_kills },
	{ "processors-protect", processors_protect },
	{ "processors-replace", processors_replace },
	{ "processors-fork", processors_fork },
	{ "processors-at-once", processors_at_once },
	{ "processors-turns", processors_turns },
	{ "processors-anew", processors_anew },
	{ "memory-that-moves", memory_that_moves },
	{ "memory-stays", memory_stays },
	{ "shared-memory-stays", shared_memory_stays },
	{ "clock-is-set", clock_is_set },
	{ "shield", shield },
	{ "shield-elsewhere", shield_elsewhere },
	{ "filtered", filtered },
	{ "dumps", dumps },
	{ "words", words },
	{ "pipe-held", pipe_held },
	{ "names", names },
	{ "names-end", names_end },
	{ "names-owner-dies", names_owner_dies },
	{ "names-waiter-dies", names_waiter_dies },
	{ "names-rights", names_rights },
	{ "names-ceiling", names_ceiling },
	{ "names-full", names_full },
	{ "hostile-names", hostile_names },
	{ "hostile-words", hostile_words },
	{ "hostile-services", hostile_services },
	{ "hostile-instructions", hostile_instructions },
	{ "hostile-arguments", hostile_arguments },
	{ "hostile-calls", hostile_calls },
	{ "hostile-waits", hostile_waits },
};

/* These need a task beside Linux, and run only if they are asked for. */
static const struct test beside[] = {
	{ "tasks", tasks },
	{ "tasks-made", tasks_made },
	{ "tasks-queues", tasks_queues },
	{ "tasks-end", tasks_end },
	{ "tasks-full", tasks_full },
	{ "fifo-results", fifo_results },
	{ "fifo-echo", fifo_echo },
	{ "fifo-records", fifo_records },
	{ "fifo-readers", fifo_readers },
	{ "fifo-writers", fifo_writers },
	{ "fifo-turns", fifo_turns },
	{ "fifo-interrupted", fifo_interrupted },
	{ "fifo-stolen", fifo_stolen },
	{ "fifo-cost", fifo_cost },
};

static const char *bad[COUNT(tests) + COUNT(beside)];
static unsigned int bads;

/* Runs a test in a process of its own. */
static bool is_good(const struct test *test)
{
	int64_t begin = now(CLOCK_MONOTONIC);
	pid_t child = fork();
	int status, i;

	if (!child) {
		test->run();
		_exit(0);
	}
	for (i = 0; i < LIMIT * 100; i++) {
		if (waitpid(child, &status, WNOHANG) == child)
			break;
		usleep(10000);
	}
	if (i == LIMIT * 100) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		printf("FAIL %s: it does not end\n", test->name);
	} else if (WIFSIGNALED(status)) {
		printf("FAIL %s: signal %d\n", test->name, WTERMSIG(status));
	} else {
		printf("%s %s after %lld ms\n", WEXITSTATUS(status) ? "FAIL" : "ok", test->name,
		       (long long)((now(CLOCK_MONOTONIC) - begin) / MILLISECOND));
	}
	return !status;
}

static bool is_named(const char *name, char **names)
{
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

/* Runs the tests that have one of the names, or all of them. */
static void run(const struct test *test, unsigned int count, char **names, bool all)
{
	for (; count--; test++)
		if ((all || is_named(test->name, names)) && !is_good(test))
			bad[bads++] = test->name;
}

int main(int argc, char **argv)
{
	char **names = argv + 1;
	unsigned int i;

	if (argc > 1 && !strcmp(argv[1], "executed"))
		return executed();
	if (argc > 1 && !strcmp(argv[1], "prepared"))
		return prepared();
	if (argc > 1 && !strcmp(argv[1], "reported"))
		return reported();
	if (argc > 1 && !strcmp(argv[1], "hindered"))
		return hindered();
	if (argc > 1 && (!strcmp(argv[1], "other") || !strcmp(argv[1], "gained")))
		return other(!strcmp(argv[1], "gained"));
	setvbuf(stdout, NULL, _IONBF, 0);
	if (*names && !strcmp(*names, "native")) {
		is_native = true;
		names++;
	} else {
		device = open(PILLION_DUAL_DEVICE, O_RDWR | O_CLOEXEC);
		if (device < 0) {
			printf("FAIL %s: %s\n", PILLION_DUAL_DEVICE, strerror(errno));
			return 1;
		}
	}
	if (*names && !strcmp(*names, "stay"))
		return stay();
	if (*names && !strcmp(*names, "outlive"))
		return outlive();
	if (*names && !strcmp(*names, "outlive-fifos"))
		return outlive_fifos();
	if (*names && !strcmp(*names, "outlive-queues"))
		return outlive_queues();
	if (*names && !strcmp(*names, "minute"))
		return minute();
	if (*names && !strcmp(*names, "while-odd"))
		return while_odd();
	if (*names && !strcmp(*names, "urgent"))
		return urgent_mode();
	run(tests, COUNT(tests), names, !*names);
	run(beside, COUNT(beside), names, false);
	if (!bads) {
		printf("dual mode: good\n");
		return 0;
	}
	fprintf(stderr, "dual mode: failed:");
	for (i = 0; i < bads; i++)
		fprintf(stderr, " %s", bad[i]);
	fprintf(stderr, "\n");
	return 1;
}
