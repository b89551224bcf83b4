// SPDX-License-Identifier: GPL-2.0-only
/* Starts and ends tasks. */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <pillion_control.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int control(unsigned long request, const char *task, const char *parameters)
{
	struct pillion_control_task about = { 0 };
	int device, result, error;

	if (strlen(task) >= sizeof(about.name) || strlen(parameters) >= sizeof(about.parameters)) {
		errno = E2BIG;
		return -1;
	}
	strcpy(about.name, task);
	strcpy(about.parameters, parameters);
	device = open(PILLION_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0)
		return -1;
	result = ioctl(device, request, &about);
	error = errno;
	close(device);
	errno = error;
	return result;
}

int pillion_load(const char *task, const char *parameters)
{
	return control(PILLION_IOC_LOAD, task, parameters ? parameters : "");
}

int pillion_unload(const char *task)
{
	return control(PILLION_IOC_UNLOAD, task, "");
}
