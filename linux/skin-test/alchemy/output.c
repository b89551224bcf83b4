// SPDX-License-Identifier: GPL-2.0-only
/* Output of main and of a task, without the start of the POSIX skin: another thread writes it. */
#include <alchemy/task.h>
#include <fcntl.h>
#include <poll.h>
#include <trank/rtdk.h>

#include "../check.h"

static void prints(void *nothing)
{
	(void)nothing;
	rt_printf("of a task\n");
	rt_task_sleep(10 * MS);
}

/* Waits for a text, which nobody flushes. */
static void await(int output, const char *text)
{
	struct pollfd look = { .fd = output, .events = POLLIN };
	char got[32] = "";

	check(poll(&look, 1, 5000) == 1);
	check(read(output, got, sizeof(got) - 1) == (ssize_t)strlen(text) && !strcmp(got, text));
}

int main(void)
{
	int ends[2], console = dup(STDOUT_FILENO);
	RT_TASK task;

	check(!pipe(ends) && dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
	setvbuf(stdout, NULL, _IONBF, 0);
	rt_printf("of main\n");
	await(ends[0], "of main\n");
	check(!rt_task_spawn(&task, "prints", 0, 50, T_JOINABLE, prints, NULL));
	await(ends[0], "of a task\n");
	check(!rt_task_join(&task));
	check(dup2(console, STDOUT_FILENO) == STDOUT_FILENO);
	return 0;
}
