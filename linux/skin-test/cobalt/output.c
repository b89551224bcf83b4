// SPDX-License-Identifier: GPL-2.0-only
/* Output of a thread in primary mode: nothing of it leads to Linux, and it comes in order. */
#include <signal.h>
#include <sys/cobalt.h>
#include <syslog.h>

#include "../check.h"

static FILE *file;
/* The reason of the first switch to Linux, or 0. */
static volatile sig_atomic_t reason;

static void is_warned(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (!reason)
		reason = sigdebug_marked(info) ? sigdebug_reason(info) : -1;
}

static void *prints(void *nothing)
{
	int i;

	check(!pthread_setmode_np(0, PTHREAD_WARNSW, NULL));
	for (i = 0; i < 100; i++) {
		check(fprintf(file, "%d %s\n", i, "of a hundred") == (i < 10 ? 15 : 16));
		check(rt_fprintf(file, "%.3f\n", i / 8.0) >= 6);
		fputs("text", file);
		fputc('\n', file);
		check(fwrite("data\n", 1, 5, file) == 5);
	}
	syslog(LOG_DEBUG, "a robot's %s", "message");
	check(reason == 0);
	check(!pthread_setmode_np(PTHREAD_WARNSW, 0, NULL));
	return nothing;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = is_warned, .sa_flags = SA_SIGINFO };
	char line[64], expected[64];
	int i;

	sigaction(SIGDEBUG, &action, NULL);
	file = tmpfile();
	check(file != NULL);
	pthread_join(start(50, prints, NULL), NULL);
	/* A thread in Linux writes what is there before its own. */
	fprintf(file, "end\n");
	rewind(file);
	for (i = 0; i < 100; i++) {
		sprintf(expected, "%d of a hundred\n", i);
		check(fgets(line, sizeof(line), file) && !strcmp(line, expected));
		sprintf(expected, "%.3f\n", i / 8.0);
		check(fgets(line, sizeof(line), file) && !strcmp(line, expected));
		check(fgets(line, sizeof(line), file) && !strcmp(line, "text\n"));
		check(fgets(line, sizeof(line), file) && !strcmp(line, "data\n"));
	}
	check(fgets(line, sizeof(line), file) && !strcmp(line, "end\n") && !fgets(line, sizeof(line), file));
	check(!fclose(file));
	printf("ok output\n");
	return 0;
}
