// SPDX-License-Identifier: GPL-2.0-only
/* Memory that is absent until it is allowed to arrive: userfaultfd. */
#include "stall.h"
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

struct stall {
	int faults;
	void *page;
};

struct stall *stall_open(void)
{
	struct stall *stall = calloc(1, sizeof(*stall));
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .range.len = PAGE, .mode = UFFDIO_REGISTER_MODE_MISSING };

	if (!stall)
		return NULL;
	/* Otherwise it cannot be polled. */
	stall->faults = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	stall->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)stall->page;
	if (stall->faults < 0 || stall->page == MAP_FAILED || ioctl(stall->faults, UFFDIO_API, &api) ||
	    ioctl(stall->faults, UFFDIO_REGISTER, &range))
		return NULL;
	return stall;
}

void *stall_page(struct stall *stall)
{
	return stall->page;
}

bool stall_begins(struct stall *stall)
{
	struct pollfd file = { stall->faults, POLLIN, 0 };

	return poll(&file, 1, 1000) == 1 && file.revents == POLLIN;
}

void stall_end(struct stall *stall)
{
	struct uffdio_zeropage range = { .range = { (uintptr_t)stall->page, PAGE } };

	ioctl(stall->faults, UFFDIO_ZEROPAGE, &range);
	close(stall->faults);
}
