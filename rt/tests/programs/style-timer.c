/*
 * In the style of the time: a timer whose signal a thread waits for, with `timer`, `kill` and
 * `alarm` for names.
 *
 * prints: timer expired 3 times, signal 7
 */
#include <rtl.h>
#include <pthread.h>
#include <rtl_sched.h>
#include <signal.h>
#include <time.h>
#include <rtl_signal.h>
#include <pillion.h>
#define MY_SIGNAL RTL_SIGUSR1
timer_t timer;
pthread_t t;
static int signo, kill, alarm;
static void sighandler(int sig) { signo = sig; if (++kill == 3) pillion_unload(); }
void *start(void *a)
{
	struct sigaction sa;
	struct itimerspec new, old;
	struct sigevent ev;
	rtl_sigset_t set;
	struct timespec ts = { 0, 500000 };
	ev.sigev_notify = SIGEV_SIGNAL; ev.sigev_signo = MY_SIGNAL; ev.sigev_value.sival_int = 3;
	sa.sa_handler = sighandler; sa.sa_flags = 0; rtl_sigemptyset(&sa.sa_mask);
	if (sigaction(MY_SIGNAL, &sa, NULL)) { rtl_printf("errno %d\n", errno); return NULL; }
	timer_create(CLOCK_REALTIME, &ev, &timer);
	new.it_interval = ts; new.it_value = ts;
	timer_settime(timer, 0, &new, &old);
	rtl_sigfillset(&set); rtl_sigdelset(&set, MY_SIGNAL);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	while (timer_getoverrun(timer) >= 0) { sigsuspend(&set); if (rtl_sigismember(&set, 9)) alarm++; }
	return 0;
}
int init_module(void) { return pthread_create(&t, NULL, start, NULL); }
void cleanup_module(void) { rtl_printf("timer expired %d times, signal %d\n", kill, signo); timer_delete(timer); pthread_cancel(t); pthread_join(t, NULL); }
