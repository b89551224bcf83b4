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

/* A text as one of many functions writes it, to the standard output or to the file. */
static int by_vprintf(const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vprintf(format, arguments);
	va_end(arguments);
	return size;
}

static int by_vfprintf(const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vfprintf(stdout, format, arguments);
	va_end(arguments);
	return size;
}

static int by_chk(const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = __RT(__vprintf_chk(1, format, arguments));
	va_end(arguments);
	va_start(arguments, format);
	size += __RT(__vfprintf_chk(stdout, 1, format, arguments));
	va_end(arguments);
	return size;
}

static int by_rt(const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = rt_vprintf(format, arguments);
	va_end(arguments);
	va_start(arguments, format);
	size += rt_vfprintf(stdout, format, arguments);
	va_end(arguments);
	return size;
}

static void by_log(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsyslog(LOG_DEBUG, format, arguments);
	va_end(arguments);
	va_start(arguments, format);
	rt_vsyslog(LOG_DEBUG, format, arguments);
	va_end(arguments);
	va_start(arguments, format);
	__RT(__vsyslog_chk(LOG_DEBUG, 1, format, arguments));
	va_end(arguments);
}

static const char all[] = "a1\nb2\nc3\nd4\ne5\nf6\nf6\ng7\nh8\ni9\nj10\nj10\nk11\nl\nm\nnnn\no12\np\nqq\n";

/* The results are those of the C library's functions. */
static void *in_all_ways(void *nothing)
{
	check(!pthread_setmode_np(0, PTHREAD_WARNSW, NULL));
	check(printf("a%d\n", 1) == 3 && by_vprintf("b%d\n", 2) == 3 && by_vfprintf("c%d\n", 3) == 3);
	check(__RT(__printf_chk(1, "d%d\n", 4)) == 3 && __RT(__fprintf_chk(stdout, 1, "e%d\n", 5)) == 3);
	check(by_chk("f%d\n", 6) == 6 && puts("g7") >= 0 && fputs("h8\n", stdout) >= 0);
	check(rt_printf("i%d\n", 9) == 3 && by_rt("j%d\n", 10) == 8 && rt_puts("k11") >= 0);
	check(putchar('l') == 'l' && rt_putchar('\n') == '\n' && rt_fputc('m', stdout) == 'm' && fputc('\n', stdout) == '\n');
	check(rt_fwrite("nnn", 1, 3, stdout) == 3 && fwrite("\n", 1, 1, stdout) == 1 && rt_fputs("o12\n", stdout) >= 0);
	check(fwrite("x", 0, 5, stdout) == 0 && fwrite("x", 5, 0, stdout) == 0 && rt_fwrite("x", 0, 5, stdout) == 0);
	check(putchar(0x100 | 'p') == 'p' && putc('\n', stdout) == '\n' && fwrite("qq", 2, 1, stdout) == 1);
	check(fwrite("\n", 1, 1, stdout) == 1 && printf("%s", "") == 0);
	by_log("%s", "a robot's message");
	__RT(__syslog_chk(LOG_DEBUG, 1, "%s", "another"));
	rt_syslog(LOG_DEBUG, "%s", "one more");
	check(reason == 0 && !pthread_setmode_np(PTHREAD_WARNSW, 0, NULL));
	return nothing;
}

/* What the standard output gets is what a file has that stands in for it. */
static void with_standard_output(void)
{
	int before = dup(STDOUT_FILENO);
	char text[sizeof(all) + 1] = "";
	FILE *in = tmpfile();

	check(in && before >= 0 && !fflush(stdout) && dup2(fileno(in), STDOUT_FILENO) >= 0);
	pthread_join(start(50, in_all_ways, NULL), NULL);
	rt_print_flush_buffers();
	check(!fflush(stdout) && dup2(before, STDOUT_FILENO) >= 0 && !close(before));
	rewind(in);
	check(fread(text, 1, sizeof(text) - 1, in) == sizeof(all) - 1 && !strcmp(text, all) && !fclose(in));
	/* Buffers need no preparation; they have a name. */
	check(!rt_print_init(4096, "robot") && !strcmp(rt_print_buffer_name(), "robot") && !rt_print_init(0, NULL));
	rt_print_auto_init(1);
	rt_print_cleanup();
	printf("ok standard output\n");
}

static void *prints_long(void *nothing)
{
	/* The longest that goes out whole, and one that does not. */
	check(rt_fprintf(file, "%4095d", 1) == 4095);
	check(rt_fprintf(file, "%5000d", 1) == 5000);
	return nothing;
}

/* A text that is cut is counted on the standard error. */
static void cut(void)
{
	int before = dup(STDERR_FILENO);
	FILE *errors = tmpfile();
	unsigned long count = 0;

	file = tmpfile();
	check(file && errors && before >= 0 && dup2(fileno(errors), STDERR_FILENO) >= 0);
	pthread_join(start(50, prints_long, NULL), NULL);
	rt_print_flush_buffers();
	check(dup2(before, STDERR_FILENO) >= 0 && !close(before));
	rewind(errors);
	check(fscanf(errors, "pillion: %lu texts", &count) == 1 && count == 1);
	check(!fclose(errors) && ftell(file) == 2 * 4095 && !fclose(file));
	printf("ok texts that are cut\n");
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
	with_standard_output();
	cut();
	return 0;
}
