// SPDX-License-Identifier: GPL-2.0-only
/* `switchtest`: threads in both modes switch to each other, then look at their registers. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xenomai/init.h>

#include "common.h"
#include "hold.h"
#include "registers.h"
#include "switch_kind.h"
#include "switching.h"

#define MOST_THREADS 256
/* Lines of data between two headers. */
#define LINES 21
/* Seconds without a switch after which a wake-up counts as lost. */
#define LOST 5

/* What runs if no thread is named: seven of them can be in primary mode. */
static const char *const usual[] = {
	"rtup", "rtup", "rtup_ufpp", "rtup_ufpp", "rtus", "rtus", "rtus_ufps", "rtus_ufps", "rtuo_ufpp", "rtuo_ufps",
	"rtuo_ufpp_ufps",
};
/* The same, without registers. */
static const char *const usual_without[] = { "rtup", "rtup", "rtus", "rtus", "rtuo", "rtuo" };

static struct switcher switchers[MOST_THREADS];
static unsigned int switcher_count;
static struct circle circles[CPU_SETSIZE];
static bool is_quiet, is_silent, has_no_registers;
static long duration, last_switch, lines = LINES;

void application_usage(void)
{
	printf("usage: %s [OPTION]... [THREAD]...\n", program_invocation_short_name);
	puts("Threads switch to each other; registers for numbers and vectors hold a pattern of the thread, which is\n"
	     "looked at after each switch.\n"
	     "  -T, --timeout SECONDS   length of the test; 0, which is the default: until Ctrl-C\n"
	     "  -n NUMBER               ends a processor's threads after that many switches\n"
	     "  -n, --nofpu             without a number: looks at no registers\n"
	     "  -l, --lines LINES       rows between two headers: 21; 0: no headers\n"
	     "  -q                      only the totals; -Q: only errors\n"
	     "  --provoke REGISTER      loads a wrong value from each thread's hundredth turn on: the test has to fail.\n"
	     "                          Registers: ymm0 to ymm15, or xmm..., st0 to st7, mxcsr, fcw\n"
	     "A thread is a kind, suffixes, and the number of a processor, which is 0 if there is none:\n"
	     "  rtup   in primary mode        _ufpp   its registers hold a pattern while it waits in primary mode\n"
	     "  rtus   in Linux               _ufps   the same, in Linux\n"
	     "  rtuo   in one, then in the    _fp     both of these, as far as they apply\n"
	     "         other\n"
	     "Without any, these run on processor 0:\n"
	     "  rtup rtup rtup_ufpp rtup_ufpp rtus rtus rtus_ufps rtus_ufps rtuo_ufpp rtuo_ufps rtuo_ufpp_ufps");
}

static const struct option options[] = {
	{ "timeout", required_argument, NULL, 'T' },
	{ "nofpu", no_argument, NULL, 'n' },
	{ "lines", required_argument, NULL, 'l' },
	{ "really-quiet", no_argument, NULL, 'Q' },
	{ "provoke", required_argument, NULL, 'e' },
	{ NULL, 0, NULL, 0 },
};

static void set_provoked(const char *name)
{
	switching_provoked = registers_number(name);
	if (switching_provoked < 0)
		fail("--provoke %s: there is no such register that is looked at; --help names them", name);
}

/* The number of switches, if there is one, is an argument of its own. */
static void take_number(int count, char **arguments)
{
	if (optind < count && isdigit(arguments[optind][0]))
		last_switch = number_of("-n", arguments[optind++], 1, 1000000000000);
	else
		has_no_registers = true;
}

static void take_options(int count, char **arguments)
{
	int option;

	/* The first word that is no option ends them. */
	while ((option = getopt_long(count, arguments, "+T:nl:qQ", options, NULL)) != -1)
		switch (option) {
		case 'T':
			duration = number_of("-T", optarg, 0, 100000000);
			break;
		case 'n':
			take_number(count, arguments);
			break;
		case 'l':
			lines = number_of("-l", optarg, 0, 1000000);
			break;
		case 'Q':
			is_silent = true;
			/* fall through */
		case 'q':
			is_quiet = true;
			break;
		case 'e':
			set_provoked(optarg);
			break;
		default:
			xenomai_help();
			exit(2);
		}
}

/* Loads each register with a wrong value: that has to be found. */
static void check_registers(void)
{
	struct registers expected, loaded, found;
	struct mismatch mismatch;
	uint32_t turn;
	struct hold how = { .loaded = &loaded, .found = &found, .own = &turn };
	unsigned int number;
	char name[8];
	bool are_same;

	if (!is_silent)
		puts("== Testing FPU check routines...");
	for (number = 0;; number++) {
		registers_fill(&expected, 0, number);
		loaded = expected;
		turn = 1;
		if (!registers_spoil(&loaded, number))
			break;
		hold(&how);
		are_same = registers_compare(&found, &expected, &mismatch);
		if (are_same || strcmp(mismatch.name, registers_name(number, name)))
			fail("a wrong value of the register %s is not found, so this test cannot be trusted; report it",
			     registers_name(number, name));
		if (!is_quiet)
			printf("%s: %#llx != %#llx\n", name, (unsigned long long)mismatch.found,
			       (unsigned long long)mismatch.expected);
	}
	loaded = expected;
	hold(&how);
	if (!registers_compare(&found, &expected, &mismatch))
		fail("the register %s does not hold what was loaded, so this test cannot be trusted; report it",
		     mismatch.name);
	if (!is_silent)
		puts("== FPU check routines: OK.");
}

static void add(struct switch_kind kind)
{
	struct circle *circle = &circles[kind.cpu];
	struct switcher *switcher = &switchers[switcher_count];

	if (switcher_count == MOST_THREADS)
		fail("there can be %d threads, one for each processor included; name fewer", MOST_THREADS);
	circle->members = realloc(circle->members, (circle->count + 1) * sizeof(*circle->members));
	if (!circle->members)
		fail("there is no memory for the threads; end other programs");
	circle->members[circle->count++] = switcher;
	circle->cpu = kind.cpu;
	circle->last = last_switch;
	switcher->circle = circle;
	switcher->kind = kind;
	switcher->number = switcher_count++;
	switch_kind_name(&kind, switcher->number, switcher->name, sizeof(switcher->name));
}

static void add_word(const char *word)
{
	struct switch_kind kind = switch_kind_of(word);

	kind.holds_in_primary &= !has_no_registers;
	kind.holds_in_linux &= !has_no_registers;
	if (!circles[kind.cpu].count)
		add((struct switch_kind){ .mode = SLEEPER, .holds_in_linux = !has_no_registers, .cpu = kind.cpu });
	add(kind);
}

static void add_threads(int count, char **words)
{
	const char *const *standard = has_no_registers ? usual_without : usual;
	unsigned int i, size = has_no_registers ? sizeof(usual_without) : sizeof(usual);

	for (i = 0; i < (unsigned int)count; i++)
		add_word(words[i]);
	for (i = 0; !count && i < size / sizeof(*standard); i++)
		add_word(standard[i]);
}

static void show_threads(void)
{
	unsigned int i;

	printf("== Threads:");
	for (i = 0; i < switcher_count; i++)
		printf(" %s", switchers[i].name);
	putchar('\n');
	fflush(stdout);
}

static bool needs_primary(void)
{
	unsigned int i;

	for (i = 0; i < switcher_count; i++)
		if (switchers[i].kind.mode == RTUP || switchers[i].kind.mode == RTUO)
			return true;
	return false;
}

static void show_header(long second)
{
	printf("RTT|  %s\n", clock_time(second).text);
	printf("RTH|---------cpu|ctx switches|-------total\n");
}

/* Shows a row for each processor: switches since the last one, and all. */
static void show(unsigned long *before)
{
	struct circle *circle;

	for (circle = circles; circle < circles + CPU_SETSIZE; circle++) {
		unsigned long total = circle->switches;

		if (circle->count)
			printf("RTD|%12d|%12lu|%12lu\n", circle->cpu, total - before[circle->cpu], total);
		before[circle->cpu] = total;
	}
	fflush(stdout);
}

static void look_for_lost(const struct circle *circle)
{
	static unsigned long seen[CPU_SETSIZE];
	static unsigned int silent[CPU_SETSIZE];

	silent[circle->cpu] = seen[circle->cpu] == circle->switches ? silent[circle->cpu] + 1 : 0;
	seen[circle->cpu] = circle->switches;
	if (silent[circle->cpu] == LOST)
		fail("processor %d: no switch within %d seconds after the one from %s to %s: a wake-up was lost; report it",
		     circle->cpu, LOST, circle->from->name, circle->at->name);
}

/* Whether there is a processor whose threads still switch, and none has found an error. */
static bool goes_on(void)
{
	struct circle *circle;
	bool some = false;

	for (circle = circles; circle < circles + CPU_SETSIZE; circle++) {
		if (!circle->count || circle->has_ended)
			continue;
		if (circle->damaged)
			return false;
		look_for_lost(circle);
		some = true;
	}
	return some;
}

static void run(void)
{
	static unsigned long before[CPU_SETSIZE], since_begin[CPU_SETSIZE];
	const struct timespec second = { 1, 0 };
	long elapsed = 0;

	while (!interrupted && (!duration || elapsed < duration) && goes_on()) {
		if (nanosleep(&second, NULL))
			break;
		if (!is_quiet && lines && elapsed % lines == 0)
			show_header(elapsed + 1);
		elapsed++;
		if (!is_quiet)
			show(before);
	}
	if (is_quiet && !is_silent) {
		show_header(elapsed);
		show(since_begin);
	}
}

/* Shows the first register that a circle's threads found damaged, and whose it may be. */
static void show_damage(const struct circle *circle)
{
	const struct mismatch *mismatch = &circle->mismatch;
	unsigned int owner = registers_owner(mismatch->found);
	bool is_other = owner < switcher_count && &switchers[owner] != circle->damaged;

	warn("error after a switch from %s to %s: the register %s of %s is %#llx instead of %#llx%s%s",
	     circle->damaged_after->name, circle->damaged->name, mismatch->name, circle->damaged->name,
	     (unsigned long long)mismatch->found, (unsigned long long)mismatch->expected, is_other ? ", a value of " : "",
	     is_other ? switchers[owner].name : "");
}

/* Ends all threads; returns whether all was well. */
static bool end(void)
{
	struct circle *circle;
	bool is_well = true;

	for (circle = circles; circle < circles + CPU_SETSIZE; circle++) {
		if (!circle->count)
			continue;
		if (!switching_end(circle))
			fail("processor %d: threads did not end after the switch from %s to %s: a wake-up was lost; report it",
			     circle->cpu, circle->from->name, circle->at->name);
		if (circle->damaged) {
			show_damage(circle);
			is_well = false;
		}
		if (circle->strayed)
			warn("processor %d: threads were %lu times in another mode than they should have been, as when a "
			     "process is stopped; `pillion ps` shows why threads go to Linux", circle->cpu, circle->strayed);
	}
	return is_well;
}

int main(int count, char **arguments)
{
	struct circle *circle;

	registers_init();
	take_options(count, arguments);
	add_threads(count - optind, arguments + optind);
	if (needs_primary())
		need_primary();
	check_registers();
	if (!is_silent)
		show_threads();
	hold_interrupts();
	for (circle = circles; circle < circles + CPU_SETSIZE; circle++)
		if (circle->count)
			switching_start(circle);
	take_interrupts();
	run();
	return end() ? EXIT_SUCCESS : EXIT_FAILURE;
}
