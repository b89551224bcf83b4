// SPDX-License-Identifier: GPL-2.0-only
/* Shared memory: the task's area "linux-test", 8192 bytes, begins with "from the task". */
#include <errno.h>
#include <mbuff.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "test.h"

#define AREA "linux-test"
#define SIZE 8192
#define IOCTL_AREA _IO('t', 4)

const char *test_mbuff_shared(void)
{
	int control = rtf(FIFO_IOCTL, 0);
	char *area = mbuff_alloc(AREA, SIZE);

	CHECK(area);
	CHECK(!strcmp(area, "from the task"));
	/* The task returns the byte that it finds there. */
	area[SIZE - 1] = 77;
	CHECK(ioctl(control, IOCTL_AREA, SIZE - 1) == 77);
	mbuff_free(AREA, area);
	close(control);
	return NULL;
}

const char *test_mbuff_errors(void)
{
	int device = open(MBUFF_DEV_NAME, O_RDWR);
	char byte;

	CHECK(device >= 0);
	CHECK(fails(mbuff_control(device, IOCTL_MBUFF_SELECT, "not there", 0), EINVAL));
	CHECK(fails(mbuff_control(device, IOCTL_MBUFF_ALLOCATE, AREA, SIZE + 1), EIO));
	CHECK(fails(mbuff_control(device, IOCTL_MBUFF_ALLOCATE, "zero", 0), EIO));
	CHECK(fails(mbuff_control(device, IOCTL_MBUFF_ALLOCATE, "", 1), EINVAL));
	CHECK(fails(mbuff_control(device, 99, AREA, 0), EINVAL));
	CHECK(fails(read(device, &byte, 1), EAGAIN));
	CHECK(mmap(NULL, SIZE, PROT_READ, MAP_SHARED, device, 0) == MAP_FAILED && errno == EAGAIN);
	CHECK(mbuff_control(device, IOCTL_MBUFF_SELECT, AREA, 0) == SIZE);
	CHECK(mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, device, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, 2 * SIZE, PROT_READ, MAP_SHARED, device, 0) == MAP_FAILED && errno == EINVAL);
	close(device);
	return NULL;
}

/* An area used as a file. */
const char *test_mbuff_file(void)
{
	int device = open(MBUFF_DEV_NAME, O_RDWR);
	char bytes[16];

	CHECK(mbuff_control(device, IOCTL_MBUFF_SELECT, AREA, 0) == SIZE);
	CHECK(read(device, bytes, 4) == 4 && !memcmp(bytes, "from", 4));
	CHECK(lseek(device, 100, SEEK_SET) == 100);
	CHECK(write(device, "linux", 5) == 5);
	CHECK(lseek(device, -5, SEEK_CUR) == 100);
	CHECK(read(device, bytes, 5) == 5 && !memcmp(bytes, "linux", 5));
	CHECK(lseek(device, 0, SEEK_END) == SIZE && read(device, bytes, 1) == 0);
	CHECK(fails(write(device, "x", 1), ENOSPC));
	close(device);
	return NULL;
}

/* Whether /proc/mbuff lists an area. */
static bool listed(const char *name)
{
	FILE *list = fopen("/proc/mbuff", "r");
	char line[256];
	bool found = false;

	while (list && fgets(line, sizeof(line), list))
		found |= !strncmp(line, name, strlen(name));
	if (list)
		fclose(list);
	return found;
}

/* An area stays while it is allocated or mapped, and is zeroed when it is made anew. */
const char *test_mbuff_counts(void)
{
	char *first, *second;
	struct stat about;

	first = mbuff_alloc("mine", 5000);
	CHECK(first && first[0] == 0 && listed("mine"));
	strcpy(first, "kept");
	munmap(first, SIZE);
	second = mbuff_attach("mine", 5000);
	CHECK(second && !strcmp(second, "kept"));
	mbuff_free("mine", second);
	CHECK(!listed("mine"));
	first = mbuff_attach("mine", 10);
	CHECK(first && first[0] == 0 && listed("mine"));
	mbuff_detach("mine", first);
	CHECK(!listed("mine"));
	CHECK(!stat("/proc/mbuff", &about) && (about.st_mode & 0777) == 0400);
	return NULL;
}
