/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that processes and real-time tasks share by name, as RTLinux's programs use it. It needs
 * no library. All functions return NULL on failure.
 */
#ifndef MBUFF_H
#define MBUFF_H

#include <fcntl.h>
#include <pillion_mbuff.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Makes an I/O control for an area; returns the area's size, or -1. */
static inline int mbuff_control(int device, unsigned long control, const char *name, size_t size)
{
	struct mbuff_request_struct request;

	memset(&request, 0, sizeof(request));
	strncpy(request.name, name, MBUFF_NAME_LEN);
	request.size = size;
	return ioctl(device, control, &request);
}

/* Finds or makes an area and maps it; counts a user if `counted`. */
static inline void *mbuff_map(const char *name, size_t size, void *at, int counted)
{
	int device = open(MBUFF_DEV_NAME, O_RDWR);
	void *memory = MAP_FAILED;
	int there;

	if (device < 0)
		return NULL;
	there = mbuff_control(device, IOCTL_MBUFF_ALLOCATE, name, size);
	if (there > 0) {
		memory = mmap(at, there, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
		if (memory == MAP_FAILED || !counted)
			mbuff_control(device, IOCTL_MBUFF_DEALLOCATE, name, 0);
	}
	close(device);
	return memory == MAP_FAILED ? NULL : memory;
}

/* Unmaps an area, and drops a user if `counted`. The size is the area's, which may be larger. */
static inline void mbuff_unmap(const char *name, void *memory, int counted)
{
	int device = open(MBUFF_DEV_NAME, O_RDWR);
	int size;

	if (device < 0)
		return;
	size = mbuff_control(device, IOCTL_MBUFF_SELECT, name, 0);
	if (size > 0)
		munmap(memory, size);
	if (counted)
		mbuff_control(device, IOCTL_MBUFF_DEALLOCATE, name, 0);
	close(device);
}

/* Finds or makes an area of at least `size` bytes, zeroed. It stays until mbuff_free(). */
static inline void *mbuff_alloc(const char *name, int size)
{
	return mbuff_map(name, size, NULL, 1);
}

static inline void *mbuff_alloc_at(const char *name, int size, void *at)
{
	return mbuff_map(name, size, at, 1);
}

static inline void mbuff_free(const char *name, void *memory)
{
	mbuff_unmap(name, memory, 1);
}

/* The same, but the area stays only while it is mapped: a process that dies leaves nothing. */
static inline void *mbuff_attach(const char *name, int size)
{
	return mbuff_map(name, size, NULL, 0);
}

static inline void *mbuff_attach_at(const char *name, int size, void *at)
{
	return mbuff_map(name, size, at, 0);
}

static inline void mbuff_detach(const char *name, void *memory)
{
	mbuff_unmap(name, memory, 0);
}

#endif
