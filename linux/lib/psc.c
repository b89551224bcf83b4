// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of this process at real-time priority. They run on a stack of their own, while the
 * process's threads are stopped wherever they are. What they access must be in memory, so all of
 * the process's memory is locked.
 */
#include "psc.h"
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <pillion_psc.h>
#include <pthread.h>
#include <rtlinux_signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK (64 << 10)
#define GUARD 4096

static struct psc_share shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* By signal; a stack is kept for the next handler of the same signal. */
static char *stacks[RTLINUX_SIGMAX + 2];
static void (*handlers[RTLINUX_SIGMAX + 1])(int);
static volatile bool in_handler;

/*
 * ONCE is the number by which the module knows the run of a signal that was blocked when it came.
 * The run is due SOON_NS from now.
 */
#define ONCE (RTLINUX_SIGMAX + 1)
#define SOON_NS 20000

/* A run begins here, with the signal and the function as arguments, and ends with a hypercall. */
void psc_entry(void);
asm(".pushsection .text\n"
    ".type psc_entry, @function\n"
    "psc_entry:\n"
    "	call psc_run\n"
    "	mov $0x50490010, %eax\n"
    "	vmmcall\n"
    "	ud2\n"
    ".size psc_entry, . - psc_entry\n"
    ".popsection");
_Static_assert(PILLION_PSC_DONE == 0x50490010, "as in psc_entry");

__attribute__((used)) void psc_run(int sig, void (*handler)(int))
{
	in_handler = true;
	if (!psc_hold(sig))
		handler(sig);
	in_handler = false;
}

bool psc_in_handler(void)
{
	return in_handler;
}

void psc_ring(unsigned int fifo)
{
	asm volatile("vmmcall" : : "a" (PILLION_PSC_RING), "b" ((uint64_t)fifo) : "memory");
}

/* Finds the task's FIFOs, through the view. */
static int look(struct psc_share *share)
{
	struct pillion_view *view = pillion_view_open();
	int task = view ? pillion_task_find(view, PILLION_PSC_TASK) : -1;

	if (task < 0)
		return -1;
	share->fifos = pillion_task_status(view, task)->fifos;
	return 0;
}

static const struct psc_share *open_share(void)
{
	if (shared.fifos)
		return &shared;
	shared.device = open(PILLION_PSC_DEVICE, O_RDWR | O_CLOEXEC);
	if (shared.device < 0)
		return NULL;
	/* Handlers ask for the time; the first call opens a view, which a handler cannot do. */
	if (gethrtime() >= 0 && !look(&shared))
		return &shared;
	close(shared.device);
	return NULL;
}

const struct psc_share *psc_share(void)
{
	const struct psc_share *share;

	pthread_mutex_lock(&lock);
	share = open_share();
	pthread_mutex_unlock(&lock);
	if (!share && (errno == ENOENT || errno == ENXIO))
		errno = ENOSYS;
	return share;
}

/* The top of a signal's stack, below which is a guard page. */
static char *stack_of(int sig)
{
	char *base = stacks[sig];

	if (!base) {
		base = mmap(NULL, STACK + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (base == MAP_FAILED || mprotect(base, GUARD, PROT_NONE))
			return NULL;
		stacks[sig] = base;
	}
	return base + GUARD + STACK;
}

/* Sets a run of a signal's handler, which the module knows by `id`. */
static int set(const struct psc_share *share, unsigned int id, int sig, unsigned int flags, hrtime_t period)
{
	struct pillion_psc_handler handler = {
		.id = id,
		.flags = flags,
		.period_ns = period,
		.line = flags & PILLION_PSC_LINE ? sig : 0,
		.entry = (uintptr_t)psc_entry,
		.arguments = { sig, (uintptr_t)handlers[sig] },
	};
	char *stack = stack_of(id);

	if (!stack)
		return -1;
	handler.stack = (uintptr_t)stack;
	return ioctl(share->device, PILLION_IOC_PSC_SET, &handler);
}

static int start(const struct psc_share *share, int sig, const struct rtlinux_sigaction *action)
{
	unsigned int flags = action->sa_flags & (RTLINUX_SA_ONESHOT | RTLINUX_SA_RESETHAND) ? PILLION_PSC_ONESHOT : 0;

	if (sig < RTLINUX_SIGTIMER0)
		flags |= PILLION_PSC_LINE;
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return -1;
	handlers[sig] = action->sa_handler;
	psc_forget(sig);
	return set(share, sig, sig, flags, action->sa_period);
}

static int stop(const struct psc_share *share, int sig)
{
	uint32_t id = sig;

	if (sig <= RTLINUX_SIGMAX) {
		handlers[sig] = NULL;
		psc_forget(sig);
	}
	return ioctl(share->device, PILLION_IOC_PSC_CLEAR, &id) && errno != ENOENT ? -1 : 0;
}

int rtlinux_sigaction(int sig, const struct rtlinux_sigaction *action, struct rtlinux_sigaction *old)
{
	const struct psc_share *share;

	(void)old;
	if (sig < 0 || sig > RTLINUX_SIGTIMER15 || !action) {
		errno = EINVAL;
		return -1;
	}
	share = psc_share();
	if (!share)
		return -1;
	if (action->sa_handler == RTLINUX_SIG_DFL || action->sa_handler == RTLINUX_SIG_IGN)
		return stop(share, sig);
	return start(share, sig, action);
}

int psc_run_once(int sig)
{
	struct pillion_psc_state state = { .id = ONCE };
	const struct psc_share *share;
	int result;

	if (!handlers[sig])
		return 0;
	if (in_handler) {
		handlers[sig](sig);
		return 0;
	}
	share = psc_share();
	if (!share || set(share, ONCE, sig, PILLION_PSC_ONESHOT, SOON_NS))
		return -1;
	do {
		result = ioctl(share->device, PILLION_IOC_PSC_STATE, &state);
	} while (!result && state.state == PILLION_PSC_ACTIVE);
	stop(share, ONCE);
	return result;
}

int rtlinux_sigstate(int sig, struct rtlinux_sigstate *state)
{
	const struct psc_share *share = psc_share();
	struct pillion_psc_state told = { .id = sig };

	if (!share || ioctl(share->device, PILLION_IOC_PSC_STATE, &told))
		return -1;
	state->runs = told.runs;
	state->overruns = told.overruns;
	state->latency_max = told.latency_max_ns;
	state->is_active = told.state == PILLION_PSC_ACTIVE;
	state->fault = told.state == PILLION_PSC_FAULTED ? (int)told.vector : -1;
	state->address = (void *)(uintptr_t)told.address;
	state->instruction = (void *)(uintptr_t)told.rip;
	return 0;
}
