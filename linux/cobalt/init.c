// SPDX-License-Identifier: GPL-2.0-only
/* Start of a program, and the options that it takes for its libraries. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xenomai/init.h>
#include <xenomai/tunables.h>

#include "internal.h"
#include "primary/thread.h"

#define DEFAULT_POOL (1 << 20)

struct xenomai_settings __xenomai_settings = {
	.main_prio = -1,
	.mem_pool_size = DEFAULT_POOL,
	.session_label = "anon",
	.registry_root = "/var/run/xenomai",
	.alchemy_clock_resolution = 1,
};

const char *xenomai_version_string = "Xenomai/cobalt v" XENO_VERSION_STRING " -- Pillion";

/* The objects of the program's own constructors are in primary mode already. */
__attribute__((constructor(102))) static void begin(void)
{
	primary_begin("libcobalt");
	primary_self();
}

static void wrong(const char *option, const char *value)
{
	fprintf(stderr, "xenomai: --%s takes no \"%s\"; --help shows what it takes\n", option, value ? value : "");
	exit(EXIT_FAILURE);
}

static void refused(const char *option, const char *value, int error, const char *remedy)
{
	fprintf(stderr, "xenomai: --%s %s: %s; %s\n", option, value, strerror(error), remedy);
	exit(EXIT_FAILURE);
}

static unsigned long number(const char *option, const char *value)
{
	char *end = (char *)value;
	unsigned long number = value ? strtoul(value, &end, 0) : 0;

	if (!value || end == value || *end)
		wrong(option, value);
	return number;
}

static void set_cpus(const char *option, const char *value)
{
	char *rest = (char *)value;

	CPU_ZERO(&__xenomai_settings.cpu_affinity);
	for (; *rest; rest += *rest == ',') {
		char *at = rest;
		unsigned long cpu = strtoul(at, &rest, 10);

		if (rest == at || cpu >= CPU_SETSIZE || (*rest && *rest != ','))
			wrong(option, value);
		CPU_SET(cpu, &__xenomai_settings.cpu_affinity);
	}
}

static void take_cpus(const cpu_set_t *cpus)
{
	if (sched_setaffinity(0, sizeof(*cpus), cpus))
		refused("cpu-affinity", "", errno, "name processors that this process may use (`taskset -p`)");
}

static void set_pool(const char *option, const char *value)
{
	static const char units[] = "KMG";
	char *end = (char *)value, *unit;
	size_t size = strtoul(value, &end, 0);

	unit = *end ? strchr(units, *end) : NULL;
	if (end == value || (*end && (!unit || end[1])))
		wrong(option, value);
	/* Without a unit, it is in kilobytes. */
	__xenomai_settings.mem_pool_size = size << (unit ? 10 * (unit - units + 1) : 10);
}

static void set_session(const char *option, const char *value)
{
	(void)option;
	__xenomai_settings.session_label = value;
}

static void set_root(const char *option, const char *value)
{
	(void)option;
	__xenomai_settings.registry_root = value;
}

static void set_resolution(const char *option, const char *value)
{
	__xenomai_settings.alchemy_clock_resolution = number(option, value);
	if (!__xenomai_settings.alchemy_clock_resolution)
		wrong(option, value);
}

static void set_verbosity(const char *option, const char *value)
{
	__xenomai_settings.verbosity_level = value ? number(option, value) : 1;
}

static void set_quiet(const char *option, const char *value)
{
	(void)option;
	(void)value;
	__xenomai_settings.verbosity_level = 0;
}

static void unlock_memory(const char *option, const char *value)
{
	(void)option;
	(void)value;
	__xenomai_settings.no_mlock = 1;
}

static void set_priority(const char *option, const char *value)
{
	__xenomai_settings.main_prio = number(option, value);
}

static void take_priority(int priority)
{
	struct sched_param parameters = { .sched_priority = priority };
	int error = __RT(pthread_setschedparam(pthread_self(), priority ? SCHED_FIFO : SCHED_OTHER, &parameters));
	char value[16];

	snprintf(value, sizeof(value), "%d", priority);
	if (error)
		refused("main-prio", value, error, "be root, or raise RLIMIT_RTPRIO; priorities end at 99");
}

/* What the program and its options have set takes effect. */
static void apply(void)
{
	if (CPU_COUNT(&__xenomai_settings.cpu_affinity))
		take_cpus(&__xenomai_settings.cpu_affinity);
	if (__xenomai_settings.no_mlock)
		munlockall();
	if (__xenomai_settings.main_prio >= 0)
		take_priority(__xenomai_settings.main_prio);
}

/* It has no meaning here. */
static void ignore(const char *option, const char *value)
{
	(void)option;
	(void)value;
}

static void version(const char *option, const char *value)
{
	(void)option;
	(void)value;
	application_version();
	puts(xenomai_version_string);
	exit(EXIT_SUCCESS);
}

static void help(const char *option, const char *value)
{
	(void)option;
	(void)value;
	xenomai_help();
	exit(EXIT_SUCCESS);
}

static const struct option {
	const char *name;
	/* What the value is; NULL: there is none. In brackets: there may be none. */
	const char *value;
	const char *about;
	void (*take)(const char *option, const char *value);
} options[] = {
	{ "mlock", NULL, "lock memory, which is the default", ignore },
	{ "no-mlock", NULL, "do not lock memory", unlock_memory },
	{ "no-sanity", NULL, "accepted", ignore },
	{ "sanity", NULL, "accepted", ignore },
	{ "verbose", "[=level]", "say more", set_verbosity },
	{ "silent", NULL, "say nothing", set_quiet },
	{ "quiet", NULL, "say nothing", set_quiet },
	{ "trace", "[=level]", "accepted", ignore },
	{ "version", NULL, "show the version", version },
	{ "dump-config", NULL, "show the version", version },
	{ "help", NULL, "show this", help },
	{ "cpu-affinity", "=cpu[,cpu]...", "processors for the program's threads", set_cpus },
	{ "main-prio", "=priority", "priority of the main thread", set_priority },
	{ "print-buffer-size", "=bytes", "accepted", ignore },
	{ "print-buffer-count", "=number", "accepted", ignore },
	{ "print-sync-delay", "=ms", "accepted", ignore },
	{ "mem-pool-size", "=size[K|M|G]", "accepted: memory is the C library's", set_pool },
	{ "session", "=label[/group]", "name of the session", set_session },
	{ "registry-root", "=path", "accepted: there is no registry", set_root },
	{ "no-registry", NULL, "accepted: there is no registry", ignore },
	{ "shared-registry", NULL, "accepted: there is no registry", ignore },
	{ "alchemy-clock-resolution", "=ns", "length of a tick of Alchemy's", set_resolution },
};

void xenomai_usage(void)
{
	unsigned int i;

	puts("Xenomai's options:");
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const char *value = options[i].value ? options[i].value : "";

		printf("  --%s%-*s %s\n", options[i].name, (int)(30 - strlen(options[i].name)), value, options[i].about);
	}
}

__attribute__((weak)) void application_usage(void)
{
	puts("usage: PROGRAM [OPTION]...");
}

__attribute__((weak)) void application_version(void)
{
}

const char *get_program_name(void)
{
	return program_invocation_short_name;
}

void xenomai_help(void)
{
	application_usage();
	xenomai_usage();
}

/* Takes an option; returns how many arguments it had, 0 if it is not one of these. */
static int take(char *const *arguments)
{
	const char *argument = arguments[0];
	unsigned int i;

	if (strncmp(argument, "--", 2))
		return 0;
	argument += 2;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const struct option *option = &options[i];
		size_t length = strlen(option->name);
		bool needs_value = option->value && option->value[0] == '=';
		const char *value = NULL;

		if (strncmp(argument, option->name, length) || (argument[length] && argument[length] != '='))
			continue;
		if (argument[length] == '=')
			value = argument + length + 1;
		if (needs_value && !value)
			value = arguments[1];
		if ((needs_value && !value) || (value && !option->value))
			wrong(option->name, value);
		option->take(option->name, value);
		return 1 + (value && value == arguments[1]);
	}
	return 0;
}

void xenomai_init(int *argcp, char *const **argvp)
{
	char *const *arguments = *argvp, **rest;
	static bool is_done;
	int count = 0, i = 0, taken;

	if (is_done)
		return;
	is_done = true;
	rest = calloc(*argcp + 1, sizeof(*rest));
	if (!rest)
		return;
	while (i < *argcp && strcmp(arguments[i], "--")) {
		taken = i ? take(arguments + i) : 0;
		if (!taken)
			rest[count++] = arguments[i++];
		i += taken;
	}
	while (i < *argcp)
		rest[count++] = arguments[i++];
	*argcp = count;
	*argvp = rest;
	apply();
}

void xenomai_init_shlib(int *argcp, char *const **argvp)
{
	xenomai_init(argcp, argvp);
}

void xenomai_init_dso(int *argcp, char *const **argvp)
{
	xenomai_init(argcp, argvp);
}
