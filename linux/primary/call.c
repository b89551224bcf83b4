// SPDX-License-Identifier: GPL-2.0-only
#include "call.h"

#include <errno.h>
#include <fcntl.h>
#include <pillion_dual.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "lock.h"
#include "wait.h"

static int device = -1;

bool primary_is_there(void)
{
	return device >= 0;
}

static long raw(long number, long command, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	register long r10 asm("r10") = b;
	register long r8 asm("r8") = c;
	register long r9 asm("r9") = d;
	long result;

	asm volatile("syscall" : "=a" (result) : "0" (number), "D" ((long)device), "S" (command), "d" (a), "r" (r10),
		     "r" (r8), "r" (r9) : "rcx", "r11", "memory");
	return result;
}

long primary_call(unsigned int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	long command = PILLION_IOC_DUAL_CALL(number), result;

	do {
		result = raw(PILLION_DUAL_SERVICE_FIRST + number, command, a, b, c, d);
		if (result == -ENOSYS)
			result = raw(SYS_ioctl, command, a, b, c, d);
	} while (result == -ENOSYS);
	return result;
}

bool primary_is_now(void)
{
	return primary_is_there() && !raw(PILLION_DUAL_SERVICE_FIRST + PILLION_DUAL_SERVICE_NOTHING, 0, 0, 0, 0, 0);
}

int primary_enter(void)
{
	return primary_is_there() ? PRIMARY_CALL(NOTHING, 0, 0, 0, 0) : -ENOSYS;
}

/* Adds flags to the process's mark, and takes away others: `pillion exec` may have set some. */
static int mark(uint32_t flags, uint32_t clear)
{
	struct pillion_dual_mark mark = { .flags = flags, .clear = clear };

	return syscall(SYS_ioctl, device, PILLION_IOC_DUAL_MARK, &mark) ? errno : 0;
}

static int set(uint32_t flag, bool is_set)
{
	return is_set ? mark(flag, 0) : mark(0, flag);
}

int primary_warn(bool warns)
{
	return set(PILLION_DUAL_WARN, warns);
}

int primary_warn_thread(bool warns)
{
	return set(PILLION_DUAL_WARN_THREAD, warns);
}

int primary_look(uint32_t tid, struct pillion_dual_thread *thread)
{
	struct pillion_dual_look look = { 0 };

	for (; !syscall(SYS_ioctl, device, PILLION_IOC_DUAL_LOOK, &look); look.index++)
		if (look.thread.thread == tid) {
			*thread = look.thread;
			return 0;
		}
	return -ENOENT;
}

void primary_leave(void)
{
	struct pillion_dual_look look = { 0 };

	/* A call of Linux's that a thread is not told of. */
	syscall(SYS_ioctl, device, PILLION_IOC_DUAL_LOOK, &look);
}

void primary_debug(uint32_t reason)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_value.sival_int = PILLION_DUAL_DEBUG_MARK | reason;
	/* The call is not to be one that leads to Linux, of which the thread might be told, too. */
	primary_leave();
	syscall(SYS_rt_tgsigqueueinfo, getpid(), primary_tid(), SIGXCPU, &info);
}

int primary_make(uint32_t *handle, unsigned int kind, uint64_t value, uint64_t flags, uint32_t *word)
{
	uint32_t none = 0;
	long made;

	if (__atomic_load_n(handle, __ATOMIC_ACQUIRE))
		return 0;
	made = PRIMARY_CALL(CREATE, kind, value, flags, (uintptr_t)word);
	if (made < 0)
		return -made;
	if (!__atomic_compare_exchange_n(handle, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		PRIMARY_CALL(DESTROY, made, 0, 0, 0);
	return 0;
}

uint64_t primary_clock(struct primary_end end)
{
	if (end.clock == PRIMARY_NEVER)
		return PILLION_DUAL_SERVICE_FOREVER;
	return end.clock == PRIMARY_AT_ONCE ? PILLION_DUAL_SERVICE_TRY : (uint64_t)end.clock;
}

/* The wait of a thread that may be cancelled in it. */
struct taking {
	uint32_t semaphore;
	bool has_taken;
};

static void cancelled(void *argument)
{
	const struct taking *taking = argument;

	if (taking->has_taken)
		PRIMARY_CALL(SEMAPHORE_POST, taking->semaphore, 0, 0, 0);
}

int primary_take(uint32_t semaphore, struct primary_end end)
{
	struct taking taking = { .semaphore = semaphore };
	int before;
	long result;

	if (primary_sleeps && end.clock != PRIMARY_AT_ONCE) {
		result = primary_take(semaphore, PRIMARY_TRY);
		if (result != -EAGAIN)
			return result;
		result = primary_may_sleep();
		if (result)
			return result;
	}
	pthread_cleanup_push(cancelled, &taking);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
	result = PRIMARY_CALL(SEMAPHORE_WAIT, semaphore, primary_clock(end), end.ns, 0);
	taking.has_taken = !result;
	pthread_setcanceltype(before, NULL);
	pthread_cleanup_pop(0);
	return result;
}

long primary_take_flags(uint32_t flags, uint64_t wanted, struct primary_end end)
{
	int before;
	long result;

	if (primary_sleeps && end.clock != PRIMARY_AT_ONCE) {
		result = primary_take_flags(flags, wanted, PRIMARY_TRY);
		if (result != -EAGAIN)
			return result;
		result = primary_may_sleep();
		if (result)
			return result;
	}
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
	result = PRIMARY_CALL(FLAGS_WAIT, flags, wanted, primary_clock(end), end.ns);
	pthread_setcanceltype(before, NULL);
	return result;
}

/* The process, in its `home`s. */
static uintptr_t life;

uintptr_t primary_home(const void *at)
{
	return (uintptr_t)at ^ life << 47;
}

/* A mark is not inherited. */
static void child(void)
{
	life = syscall(SYS_getpid);
	if (device >= 0 && mark(0, 0))
		device = -1;
}

static const char *remedy(int error)
{
	if (device < 0)
		return error == EACCES ? "join the device's group" : "load the module, and add [dual] to the system file";
	return error == EPERM ? "allow it real-time priority (RLIMIT_RTPRIO, CAP_SYS_NICE)" : "the kernel's log may say more";
}

void primary_begin(const char *library)
{
	int error;

	if (device >= 0)
		return;
	device = syscall(SYS_openat, AT_FDCWD, PILLION_DUAL_DEVICE, O_RDWR | O_CLOEXEC);
	/* A program that this thread ran before may have wanted to be told of switches. */
	error = device < 0 ? errno : mark(0, PILLION_DUAL_WARN_THREAD);
	if (!error && mlockall(MCL_CURRENT | MCL_FUTURE))
		dprintf(STDERR_FILENO, "%s: memory is not locked: %s; raise RLIMIT_MEMLOCK\n", library, strerror(errno));
	if (!error)
		error = pthread_atfork(NULL, NULL, child);
	if (error) {
		dprintf(STDERR_FILENO, "%s: no primary mode: %s: %s; the program runs in Linux alone; %s\n", library,
			PILLION_DUAL_DEVICE, strerror(error), remedy(error));
		device = -1;
	} else {
		life = syscall(SYS_getpid);
		primary_clock_begin();
	}
}
