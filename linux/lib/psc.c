// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of this process at real-time priority. They run on a stack of their own, while the process's threads stand still wherever they
 * are; whatever they touch has to be in memory, so all of the process's memory is locked.
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
/* By signal; a stack is kept for the next handler of the same. */
static char *stacks[RTLINUX_SIGMAX + 1];
static volatile bool in_handler;

/* A run begins here, with the signal and the function as arguments, and ends with a call to the hypervisor. */
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
	if (!psc_is_blocked(sig))
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

/* Finds the FIFOs of the task, which the view tells. */
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
	/* Handlers ask for the time; the first to ask opens a view, which they cannot. */
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

/* The top of a signal's stack, below which is a page that nobody has. */
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

static int start(const struct psc_share *share, int sig, const struct rtlinux_sigaction *action)
{
	struct pillion_psc_handler handler = {
		.id = sig,
		.flags = action->sa_flags & RTLINUX_SA_ONESHOT ? PILLION_PSC_ONESHOT : 0,
		.period_ns = action->sa_period,
		.entry = (uintptr_t)psc_entry,
		.arguments = { sig, (uintptr_t)action->sa_handler },
	};
	char *stack;

	if (sig < RTLINUX_SIGTIMER0) {
		handler.flags |= PILLION_PSC_LINE;
		handler.line = sig;
	}
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return -1;
	stack = stack_of(sig);
	if (!stack)
		return -1;
	handler.stack = (uintptr_t)stack;
	return ioctl(share->device, PILLION_IOC_PSC_SET, &handler);
}

static int stop(const struct psc_share *share, int sig)
{
	uint32_t id = sig;

	return ioctl(share->device, PILLION_IOC_PSC_CLEAR, &id) && errno != ENOENT ? -1 : 0;
}

int rtlinux_sigaction(int sig, const struct rtlinux_sigaction *action, struct rtlinux_sigaction *old)
{
	const struct psc_share *share;

	(void)old;
	if (sig < 0 || sig > RTLINUX_SIGMAX || !action) {
		errno = EINVAL;
		return -1;
	}
	share = psc_share();
	if (!share)
		return -1;
	return action->sa_handler ? start(share, sig, action) : stop(share, sig);
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
