// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access through open files of /dev/pillion-psc: processes with and without capabilities get such a
 * file and try everything.
 */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <pillion_psc.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define FIFO_AT(number) ((off_t)(number) << PILLION_PSC_FIFO_SHIFT)

/* A run begins here; it only calls the function in its second argument. */
void raw_entry(void);
asm(".pushsection .text\n"
    "raw_entry:\n"
    "	call *%rsi\n"
    "	mov $0x50490010, %eax\n"
    "	vmmcall\n"
    "	ud2\n"
    ".popsection");
_Static_assert(PILLION_PSC_DONE == 0x50490010, "as in raw_entry");

static struct pillion_psc_handler handler_of(unsigned int id)
{
	static char stack[65536] __attribute__((aligned(16)));

	return (struct pillion_psc_handler){
		.id = id,
		.period_ns = MILLISECOND,
		.entry = (uintptr_t)raw_entry,
		.stack = (uintptr_t)stack + sizeof(stack),
		.arguments = { RTLINUX_SIGTIMER0, (uintptr_t)increments },
	};
}

/* A handler ends when the last descriptor of its file is closed. */
void closes(void)
{
	struct pillion_psc_handler handler = handler_of(1000);
	int device = open(PILLION_PSC_DEVICE, O_RDWR | O_CLOEXEC), other = dup(device);
	unsigned int i;

	check(!ioctl(device, PILLION_IOC_PSC_SET, &handler), "PILLION_IOC_PSC_SET");
	close(device);
	i = count;
	nap(10);
	check(count > i, "it ended with one of two descriptors");
	close(other);
	i = count;
	nap(10);
	check(count == i, "it goes on without a file");
}

/* Neither other files' FIFOs nor what the task that runs handlers relies on can be mapped. */
static void maps_nothing(int device)
{
	off_t at;

	for (at = 0; at < 4 << 20; at += 4096) {
		check(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, device, at) == MAP_FAILED,
		      "a process writes where only Linux's kernel may");
		check(mmap(NULL, 4096, PROT_READ, MAP_SHARED, device, at) == MAP_FAILED, "a process reads there");
	}
	for (at = 0; at < 70; at++)
		check(mmap(NULL, 4096, PROT_READ, MAP_SHARED, device, FIFO_AT(at)) == MAP_FAILED, "another's FIFO");
}

/* Everything that a file refuses to a process to which it does not belong. */
static void refuses_all(int device, unsigned int id)
{
	struct pillion_psc_handler handler = handler_of(id);
	struct pillion_psc_state state = { .id = id };
	struct pillion_psc_ring gone = { .number = FIFO }, made = { .number = OTHER_FIFO + 1, .size = 64 };

	check(ioctl(device, PILLION_IOC_PSC_SET, &handler) < 0 && errno == EPERM, "SET by another process");
	check(ioctl(device, PILLION_IOC_PSC_CLEAR, &id) < 0 && errno == EPERM, "CLEAR by another process");
	check(ioctl(device, PILLION_IOC_PSC_STATE, &state) < 0 && errno == EPERM, "STATE by another process");
	check(ioctl(device, PILLION_IOC_PSC_FIFO, &gone) < 0 && errno == EPERM, "the end of a FIFO by another process");
	check(ioctl(device, PILLION_IOC_PSC_FIFO, &made) < 0 && errno == EPERM, "a FIFO by another process");
	maps_nothing(device);
}

/*
 * What a process without capabilities can do with an open file that it was given. It leaves a FIFO
 * behind, whose control words it destroys.
 */
static void scribbles(int device)
{
	struct pillion_psc_ring others = { .number = FIFO }, mine = { .number = OTHER_FIFO, .size = 4096 };
	struct pillion_psc_handler handler = handler_of(1);
	void *fifo;

	check(ioctl(device, PILLION_IOC_PSC_SET, &handler) < 0 && errno == EPERM, "SET without the capability");
	maps_nothing(device);
	check(ioctl(device, PILLION_IOC_PSC_FIFO, &others) < 0 && errno == EPERM, "the end of another's FIFO");
	others.size = 64;
	check(ioctl(device, PILLION_IOC_PSC_FIFO, &others) < 0 && errno == EBUSY, "another's FIFO, made again");
	check(!ioctl(device, PILLION_IOC_PSC_FIFO, &mine), "a FIFO");
	check(mmap(NULL, 4 * 4096, PROT_READ, MAP_SHARED, device, FIFO_AT(OTHER_FIFO)) == MAP_FAILED, "more than a FIFO");
	check(mmap(NULL, 4096, PROT_READ, MAP_SHARED, device, FIFO_AT(OTHER_FIFO) + 3 * 4096) == MAP_FAILED, "behind a FIFO");
	fifo = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, device, FIFO_AT(OTHER_FIFO));
	check(fifo != MAP_FAILED, "its own FIFO");
	memset(fifo, 0xff, 3 * 4096);
	mine.size = 0;
	check(ioctl(device, PILLION_IOC_PSC_FIFO, &mine) < 0 && errno == EBUSY, "a FIFO ends while it is mapped");
}

int intrude(int inherited)
{
	int device = open(PILLION_PSC_DEVICE, O_RDWR | O_CLOEXEC);

	refuses_all(inherited, 1000);
	check(!setgid(65534) && !setuid(65534), "setuid");
	scribbles(device);
	return 0;
}

/* A process that was given open files can harm neither other processes nor Linux. */
void withstands(void)
{
	struct pillion_psc_handler handler = handler_of(1000);
	int device = open(PILLION_PSC_DEVICE, O_RDWR), status;
	char number[16], bytes[16];
	pid_t child;

	check(!ioctl(device, PILLION_IOC_PSC_SET, &handler), "PILLION_IOC_PSC_SET");
	check(!rtf_create(FIFO, 4096), "rtf_create");
	snprintf(number, sizeof(number), "%d", device);
	/* Without a copy of this process's memory, which would take it away from the handler. */
	child = vfork();
	if (!child) {
		execl("/proc/self/exe", "psc-test", "intrude", number, NULL);
		_exit(1);
	}
	check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status), "an intruder");
	count = 0;
	nap(20);
	check(count > 10, "the intruder ended a handler");
	close(device);
	check(!rtf_destroy(FIFO), "the intruder ended a FIFO");
	/* What the intruder made ended with it. */
	check(pillion_fifo_open(OTHER_FIFO, O_RDONLY) < 0 && errno == ENODEV, "a FIFO outlives its process");
	check(!rtf_create(OTHER_FIFO, 64), "a FIFO of a process that is gone is in the way");
	device = pillion_fifo_open(OTHER_FIFO, O_RDONLY | O_NONBLOCK);
	check(read(device, bytes, sizeof(bytes)) == 0, "a FIFO begins with another's contents");
	close(device);
	check(!rtf_destroy(OTHER_FIFO), "rtf_destroy");
}
