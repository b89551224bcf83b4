// SPDX-License-Identifier: GPL-2.0-only
/* XDDP: a real-time thread, and an ordinary one that has opened /dev/rtp3. */
#include <fcntl.h>
#include <poll.h>
#include <rtdm/ipc.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../../uapi/pillion_pipe.h"
#include "../check.h"

#define DEVICE "/dev/rtp3"

static void *echoes(void *nothing)
{
	int file = __STD(open(DEVICE, O_RDWR)), i;
	char text[64];
	ssize_t size;

	check(file >= 0);
	for (i = 0; i < 10; i++) {
		size = __STD(read(file, text, sizeof(text)));
		check(size > 0);
		check(__STD(write(file, text, size)) == size);
	}
	/* Parts of a stream may be joined; what a read has no room for comes with the next. */
	for (i = 0; i < 8; i += size) {
		size = __STD(read(file, text + i, 3));
		check(size > 0 && size <= 3);
	}
	check(i == 8 && !memcmp(text, "one two ", 8));
	check(__STD(read(file, text, sizeof(text))) == 5 && !memcmp(text, "three", 5));
	check(__STD(open(DEVICE, O_RDWR)) == -1 && errno == EBUSY);
	check(__STD(write(file, "bye", 3)) == 3);
	/* The other end is closed. */
	while (__STD(write(file, "x", 1)) == 1)
		usleep(1000);
	check(errno == EPIPE && __STD(read(file, text, 1)) == -1 && errno == EPIPE && !__STD(close(file)));
	return nothing;
}

static void *talks(void *nothing)
{
	struct sockaddr_ipc address = { AF_RTIPC, 3 };
	size_t pool = 16384, stream = 1024;
	int file = socket(AF_RTIPC, SOCK_DGRAM, IPCPROTO_XDDP), i;
	char text[64], back[64];

	check(file >= 0 && !setsockopt(file, SOL_XDDP, XDDP_POOLSZ, &pool, sizeof(pool)));
	check(!setsockopt(file, SOL_XDDP, XDDP_BUFSZ, &stream, sizeof(stream)));
	check(!bind(file, (struct sockaddr *)&address, sizeof(address)));
	check(setsockopt(file, SOL_XDDP, XDDP_POOLSZ, &pool, sizeof(pool)) == -1 && errno == EALREADY);
	for (i = 0; i < 10; i++) {
		sprintf(text, "message %d", i);
		check(sendto(file, text, strlen(text), 0, NULL, 0) == (ssize_t)strlen(text));
		check(recvfrom(file, back, sizeof(back), 0, NULL, 0) == (ssize_t)strlen(text));
		check(!memcmp(text, back, strlen(text)));
	}
	check(send(file, "one ", 4, MSG_MORE) == 4 && send(file, "two ", 4, MSG_MORE) == 4);
	check(send(file, "three", 5, 0) == 5);
	check(recv(file, back, sizeof(back), 0) == 3 && !memcmp(back, "bye", 3));
	check(!close(file));
	printf("ok xddp\n");
	return nothing;
}

/* Until a process sleeps. */
static void sleeps(pid_t pid)
{
	char name[32], state = 0;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	while (state != 'S') {
		FILE *file = fopen(name, "r");

		check(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1 && !fclose(file));
		rest(MS);
	}
}

/* Who waits for room in a pipe that is full goes on when the other end reads. */
static void full(void)
{
	static char text[PILLION_PIPE_MESSAGE];
	int owner = __STD(open(PILLION_PIPE_DEVICE, O_RDWR | O_NONBLOCK)), other, written = 0, status;
	pid_t child;

	check(owner >= 0 && __STD(ioctl(owner, PILLION_IOC_PIPE_BIND, 5)) == 5);
	other = __STD(open("/dev/rtp5", O_RDWR));
	check(other >= 0);
	while (__STD(write(owner, text, sizeof(text))) == sizeof(text))
		written++;
	check(errno == EAGAIN && written == PILLION_PIPE_BYTES / PILLION_PIPE_MESSAGE);
	check(!__STD(fcntl(owner, F_SETFL, 0)));
	child = fork();
	if (!child) {
		alarm(10);
		_exit(__STD(write(owner, text, sizeof(text))) != sizeof(text));
	}
	sleeps(child);
	check(__STD(read(other, text, sizeof(text))) == sizeof(text));
	check(waitpid(child, &status, 0) == child && !status);
	check(!__STD(close(owner)) && !__STD(close(other)));
	printf("ok full pipe\n");
}

int main(void)
{
	pthread_t echo, talk;

	if (access("/dev/rtp", F_OK)) {
		printf("there are no message pipes\n");
		return 0;
	}
	echo = start(0, echoes, NULL);
	talk = start(50, talks, NULL);
	pthread_join(talk, NULL);
	pthread_join(echo, NULL);
	full();
	return 0;
}
