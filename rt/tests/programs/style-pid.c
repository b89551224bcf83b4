/*
 * In the style of the time: a PID loop whose state lies in shared memory; a program in Linux sends
 * commands, a line of text each, and watches.
 *
 * partner: watch-pid
 * prints: pid: what? bla
 * prints: pid: stopped
 * prints: Linux: 2.50 of 2.5
 * run: --memory 512
 * limit: 300
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_fifo.h>
#include <mbuff.h>
#include <math.h>
#include <pillion.h>
#include "native/style-pid.h"

volatile pid_state_t *st;
pthread_t thr;
char cmdline[64]; int cmdlen;

static double plant(double u) { static double x; x += 0.02 * (u - x); return x; }

void *loop(void *param) {
	struct sched_param sp = { sched_priority: 1 };
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &sp);
	pthread_setfp_np(pthread_self(), 1);
	pthread_make_periodic_np(pthread_self(), gethrtime() + LOOP_NS, LOOP_NS);
	while (1) {
		double e;
		pthread_wait_np();
		if (!st->running) continue;
		e = st->setpoint - st->y;
		st->integ += e * LOOP_NS / 1e9;
		if (fabs(st->integ) > 10.) st->integ = st->integ > 0 ? 10. : -10.;
		st->u = st->kp * e + st->ki * st->integ + st->kd * (e - st->olderr);
		st->olderr = e;
		st->y = plant(st->u);
		st->loops++;
	}
	return 0;
}

/* commands are text, a line each:  "kp 1.5", "set 3", "go", "stop" */
static void do_command(char *line)
{
	char word[16]; double v = 0;
	int n = sscanf(line, "%15s %lf", word, &v);
	if (n < 1) return;
	if (!strcmp(word, "kp")) st->kp = v;
	else if (!strcmp(word, "ki")) st->ki = v;
	else if (!strcmp(word, "kd")) st->kd = v;
	else if (!strcmp(word, "set")) st->setpoint = v;
	else if (!strcmp(word, "go")) st->running = 1;
	else if (!strcmp(word, "say")) { printk("Linux: %s\n", line + 4); pillion_unload(); }
	else if (!strcmp(word, "stop")) { st->running = 0; printk("pid: stopped\n"); }
	else { sprintf((char *)st->msg, "what? %s", word); printk("pid: %s\n", st->msg); }
}

int my_handler(unsigned int fifo) {
	char c;
	while (rtf_get(fifo, &c, 1) == 1) {
		if (c == '\n' || cmdlen >= sizeof(cmdline) - 1) { cmdline[cmdlen] = 0; do_command(cmdline); cmdlen = 0; }
		else cmdline[cmdlen++] = c;
	}
	return 0;
}

int init_module(void) {
	st = (volatile pid_state_t *) mbuff_alloc(SHM_NAME, sizeof(pid_state_t));
	if (st == NULL) { rtl_printf("no shared memory\n"); return -1; }
	memset((void *)st, 0, sizeof *st);
	rtf_destroy(CFIFO);
	rtf_create(CFIFO, 1000);
	rtf_create_handler(CFIFO, &my_handler);
	return pthread_create(&thr, NULL, loop, (void *)0);
}
void cleanup_module(void) {
	pthread_delete_np(thr);
	rtf_destroy(CFIFO);
	mbuff_free(SHM_NAME, (void *)st);
}
