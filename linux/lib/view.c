// SPDX-License-Identifier: GPL-2.0-only
/* A view of the tasks: the window, mapped read-only. */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <pillion_control.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

#define PAGE 4096

struct pillion_view {
	int device;
	size_t size;
	const void *base;
	const struct pillion_directory *directory;
};

static const void *part(const struct pillion_view *view, uint64_t offset)
{
	return (const char *)view->base + offset;
}

/* Whether a part lies within the window. */
static bool holds(const struct pillion_view *view, uint64_t offset, uint64_t size)
{
	return offset <= view->size && size <= view->size - offset;
}

static bool task_is_good(const struct pillion_view *view, const struct pillion_task_entry *task)
{
	return holds(view, task->status, sizeof(struct pillion_status)) &&
	       holds(view, task->share, sizeof(struct pillion_share));
}

static bool is_good(const struct pillion_view *view)
{
	const struct pillion_directory *directory = view->directory;
	unsigned int i;

	if (directory->magic != PILLION_CHANNEL_MAGIC || directory->version != PILLION_CHANNEL_VERSION ||
	    directory->task_count > PILLION_CHANNEL_TASKS || !directory->tsc_hz ||
	    !holds(view, directory->usage, sizeof(struct pillion_usage)))
		return false;
	for (i = 0; i < directory->task_count; i++)
		if (!task_is_good(view, &directory->tasks[i]))
			return false;
	return true;
}

/* Maps the first bytes of the window. */
static int map(struct pillion_view *view, size_t size)
{
	void *base = mmap(NULL, size, PROT_READ, MAP_SHARED, view->device, 0);

	if (base == MAP_FAILED)
		return -1;
	view->base = base;
	view->size = size;
	view->directory = base;
	return 0;
}

/* Maps the directory, which states the size of the window, then all of the window. */
static int map_all(struct pillion_view *view)
{
	size_t size = (sizeof(struct pillion_directory) + PAGE - 1) / PAGE * PAGE;

	if (map(view, size))
		return -1;
	/* What follows is for Linux's kernel only. */
	size = view->directory->psc;
	munmap((void *)view->base, view->size);
	if (map(view, size))
		return -1;
	if (is_good(view))
		return 0;
	munmap((void *)view->base, view->size);
	errno = EPROTO;
	return -1;
}

struct pillion_view *pillion_view_open(void)
{
	struct pillion_view *view = calloc(1, sizeof(*view));

	if (!view)
		return NULL;
	view->device = open(PILLION_DEVICE, O_RDONLY | O_CLOEXEC);
	if (view->device < 0)
		goto free;
	if (!map_all(view))
		return view;
	close(view->device);
free:
	free(view);
	return NULL;
}

void pillion_view_close(struct pillion_view *view)
{
	munmap((void *)view->base, view->size);
	close(view->device);
	free(view);
}

int pillion_view_refresh(struct pillion_view *view)
{
	return ioctl(view->device, PILLION_IOC_REFRESH);
}

unsigned int pillion_task_count(const struct pillion_view *view)
{
	return view->directory->task_count;
}

int pillion_task_find(const struct pillion_view *view, const char *name)
{
	unsigned int i;

	for (i = 0; i < view->directory->task_count; i++)
		if (!strncmp((const char *)view->directory->tasks[i].name, name, sizeof(view->directory->tasks[i].name)))
			return i;
	errno = ENOENT;
	return -1;
}

const struct pillion_task_entry *pillion_task(const struct pillion_view *view, unsigned int task)
{
	return &view->directory->tasks[task];
}

const struct pillion_status *pillion_task_status(const struct pillion_view *view, unsigned int task)
{
	return part(view, view->directory->tasks[task].status);
}

const struct pillion_share *pillion_task_share(const struct pillion_view *view, unsigned int task)
{
	return part(view, view->directory->tasks[task].share);
}

const struct pillion_fifo_control *pillion_task_fifo(const struct pillion_view *view, unsigned int task, unsigned int fifo)
{
	uint64_t share = view->directory->tasks[task].share;
	uint64_t at = share + pillion_task_status(view, task)->fifos[fifo].control;

	/* The task states where they are, and may be broken. */
	if (at < share || at % 64 || !holds(view, at, sizeof(struct pillion_fifo_control)))
		return &pillion_task_share(view, task)->fifos[fifo];
	return part(view, at);
}

const struct pillion_thread_usage *pillion_task_usage(const struct pillion_view *view, unsigned int task)
{
	const struct pillion_usage *usage = part(view, view->directory->usage);

	return usage->threads[task];
}

uint64_t pillion_nanoseconds(const struct pillion_view *view, uint64_t ticks)
{
	return (unsigned __int128)ticks * 1000000000 / view->directory->tsc_hz;
}

int64_t pillion_time(const struct pillion_view *view)
{
	return pillion_nanoseconds(view, __rdtsc());
}
