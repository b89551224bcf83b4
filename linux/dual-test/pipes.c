// SPDX-License-Identifier: GPL-2.0-only
/* The skins' message pipes, /dev/rtp*, whose two ends may be of processes that are at odds. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pillion_pipe.h>

#include "test.h"

#define PAGE 4096

/* Memory of which nobody provides the page, and the file that tells of accesses to it. */
static char *absent(int *faults)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(memory != MAP_FAILED, "mmap");
	range.range.start = (uintptr_t)memory;
	range.range.len = PAGE;
	*faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	check(*faults >= 0 && !ioctl(*faults, UFFDIO_API, &api), "userfaultfd: %s", strerror(errno));
	check(!ioctl(*faults, UFFDIO_REGISTER, &range), "register: %s", strerror(errno));
	return memory;
}

static int end;
static char *memory;

static void *reads(void *nothing)
{
	(void)nothing;
	return (void *)(long)read(end, memory, PAGE);
}

/* A process that has a file of a pipe, or wants one, does not wait for whoever reads it. */
static void uses(int owner)
{
	struct pollfd look = { .fd = owner, .events = POLLIN | POLLOUT };
	int other = open("/dev/rtp", O_RDWR);

	poll(&look, 1, 0);
	_exit(ioctl(other, PILLION_IOC_PIPE_BIND, -1) < 0);
}

/* A read that waits for its own memory holds up nobody else at any pipe. */
void pipe_held(void)
{
	struct uffdio_zeropage zero = { .range.len = PAGE };
	struct pollfd fault = { .events = POLLIN };
	int owner = open("/dev/rtp", O_RDWR), status = -1, i;
	long number = ioctl(owner, PILLION_IOC_PIPE_BIND, -1);
	pthread_t reader;
	char name[24];
	void *result;
	pid_t child;

	check(number >= 0, "bind: %s", strerror(errno));
	snprintf(name, sizeof(name), "/dev/rtp%ld", number);
	end = open(name, O_RDWR);
	check(end >= 0 && write(owner, "text", 4) == 4, "%s: %s", name, strerror(errno));
	memory = absent(&fault.fd);
	check(!pthread_create(&reader, NULL, reads, NULL), "thread");
	check(poll(&fault, 1, 5000) == 1 && fault.revents == POLLIN, "the reader does not come to its memory");
	child = fork();
	if (!child)
		uses(owner);
	for (i = 0; i < 500 && waitpid(child, &status, WNOHANG) != child; i++)
		usleep(10000);
	zero.range.start = (uintptr_t)memory;
	check(!ioctl(fault.fd, UFFDIO_ZEROPAGE, &zero), "zero: %s", strerror(errno));
	pthread_join(reader, &result);
	check((long)result == 4 && !memcmp(memory, "text", 4), "%ld bytes were read", (long)result);
	check(!status, "another process: %d", status);
	close(end);
	close(owner);
}
