/* RTLinux threads. */
#ifndef RTL_SCHED_H
#define RTL_SCHED_H

#include <rtl_conf.h>
#include <errno.h>
#include <linux/fcntl.h>
#include <sched.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <asm/bitops.h>
#include <asm/system.h>
#include <asm/timex.h>
#include <rtl_time.h>
#include <rtl_signal.h>
#include <rtl_core.h>
#include <rtl_sync.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RTL_THREAD_MAGIC 0x11482cbc
#define RTL_PTHREAD_STACK_MIN 8192
#define RTL_PRIORITY_MAX 1000000
#define RTL_PRIORITY_MIN 0
#define RTL_CURRENT pthread_self()
#define rtl_sched_param sched_param

struct rtl_thread_struct {
	void *own_;
	unsigned long c_library_[31];
	/* Pending signals, as bits. */
	volatile unsigned long pending;
	/* RTL_THREAD_MAGIC while the thread exists. */
	volatile unsigned int magic;
	unsigned int number_;
	struct timespec time_;
};

typedef struct rtl_thread_struct RTL_THREAD_STRUCT;

/* The thread that stands for Linux. */
pthread_t pthread_linux(void);
pthread_t pthread_self(void);

int pthread_delete_np(pthread_t thread);
int pthread_suspend_np(pthread_t thread);
int pthread_wakeup_np(pthread_t thread);
int pthread_make_periodic_np(pthread_t thread, hrtime_t start, hrtime_t period);
int pthread_wait_np(void);
int pthread_setfp_np(pthread_t thread, int flag);
int rtl_schedule(void);

#define TIMER_ABSTIME 1
int usleep(unsigned int microseconds);
int nanosleep(const struct timespec *time, struct timespec *rest);
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest);

#ifdef __cplusplus
}
#endif

#include <pthread.h>

#endif
