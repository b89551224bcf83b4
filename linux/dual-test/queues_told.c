// SPDX-License-Identifier: GPL-2.0-only
/* POSIX's message queues: who asks to be told of a message, and who could keep him from that. */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "queues.h"
#include "test.h"

#define SIZE 64

static mqd_t queue;

static volatile sig_atomic_t told;
static volatile pid_t teller;

static void is_told(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_code == SI_MESGQ && info->si_value.sival_int == 77)
		told++;
	teller = info->si_pid;
}

static void notified_by_thread(union sigval value)
{
	*(volatile int *)value.sival_ptr = 1;
}

/* Who asked for it is told of a message for which nobody waits, once. */
void queue_notified(void)
{
	struct sigaction action = { .sa_sigaction = is_told, .sa_flags = SA_SIGINFO };
	struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	volatile int done = 0;
	pid_t child;
	int i;

	enter();
	how.sigev_value.sival_int = 77;
	check(!sigaction(SIGUSR1, &action, NULL), "sigaction");
	queue = make_queue(4, SIZE, 0);
	for (i = 0; i < 3; i++) {
		check(!mq_notify(queue, &how), "mq_notify: %s", strerror(errno));
		check(mq_notify(queue, &how) && errno == EBUSY, "it has one");
		to_primary();
		told = 0;
		sends(queue, 1, 0);
		check(told == 1 && teller == getpid(), "told %d times, by %d", (int)told, (int)teller);
		sends(queue, 2, 1);
		check(told == 1 && messages(queue) == 2, "told %d times", (int)told);
		to_primary();
		check(received(queue) == 2 && received(queue) == 1, "messages");
		check_mode(true);
		/* It is told of no other one. */
		sends(queue, 3, 0);
		check_mode(true);
		check(received(queue) == 3 && told == 1, "told %d times", (int)told);
	}
	/* By another process, and not any more. */
	check(!mq_notify(queue, &how), "mq_notify");
	child = fork();
	if (!child) {
		sends(queue, 4, 0);
		_exit(0);
	}
	check(!status_of(child) && received(queue) == 4, "the child");
	check(told == 2 && teller == child, "told %d times", (int)told);
	check(!mq_notify(queue, &how) && !mq_notify(queue, NULL), "mq_notify");
	sends(queue, 5, 0);
	check(received(queue) == 5 && told == 2, "told %d times", (int)told);
	/* By a thread. */
	how.sigev_notify = SIGEV_THREAD;
	how.sigev_notify_function = notified_by_thread;
	how.sigev_value.sival_ptr = (void *)&done;
	check(!mq_notify(queue, &how), "mq_notify: %s", strerror(errno));
	to_primary();
	sends(queue, 6, 0);
	for (i = 0; i < 1000 && !done; i++)
		usleep(1000);
	check(done && received(queue) == 6, "a thread");
	check_entries(1);
}

static void may_have(rlim_t descriptors)
{
	struct rlimit limit;

	check(!getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
	limit.rlim_cur = descriptors;
	check(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit: %s", strerror(errno));
}

/* A sender needs no descriptor but the queue's to tell somebody, and cannot keep others from it. */
void queue_told_by_others(void)
{
	struct sigaction action = { .sa_sigaction = is_told, .sa_flags = SA_SIGINFO };
	struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 77 };
	struct rlimit limit;
	int spare;

	enter();
	check(!sigaction(SIGUSR1, &action, NULL), "sigaction");
	check(!getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
	queue = make_queue(4, SIZE, 0);
	spare = dup(0);
	check(!close(spare), "close");
	check(!mq_notify(queue, &how), "mq_notify: %s", strerror(errno));
	may_have(spare);
	sends(queue, 1, 0);
	may_have(limit.rlim_cur);
	check(told == 1 && teller == getpid(), "told %d times, by %d", (int)told, (int)teller);
	check(received(queue) == 1, "the message");
	/* One that may have no descriptor at all; the next one tells of it at the latest. */
	check(!mq_notify(queue, &how), "mq_notify: %s", strerror(errno));
	may_have(0);
	sends(queue, 2, 0);
	may_have(limit.rlim_cur);
	sends(queue, 3, 0);
	sends(queue, 4, 0);
	check(told == 2, "told %d times", (int)told);
}

/* A socket that takes no more: who asks to be told by it waits. */
static int full_socket(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_pid = 4242 };
	int to = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_USERSOCK), one = 1;
	int from = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_USERSOCK);
	char text[1024] = "";

	check(to >= 0 && from >= 0, "socket: %s", strerror(errno));
	check(!bind(to, (void *)&address, sizeof(address)), "bind: %s", strerror(errno));
	check(!setsockopt(to, SOL_SOCKET, SO_RCVBUF, &one, sizeof(one)), "setsockopt");
	while (sendto(from, text, sizeof(text), MSG_DONTWAIT, (void *)&address, sizeof(address)) > 0) {
	}
	check(errno == EAGAIN && !close(from), "sendto: %s", strerror(errno));
	return to;
}

#define DESCRIPTORS 64

/* How far the reader is who does what he can, and his child. */
enum { BEGINS, HAS_ASKED, IS_TO_END };

static struct reader {
	volatile int state;
	volatile pid_t asker;
	volatile pid_t child;
} *reader;

static void *asks(void *socket)
{
	char cookie[32] = "";
	struct sigevent how = {
		.sigev_notify = SIGEV_THREAD, .sigev_signo = (intptr_t)socket, .sigev_value.sival_ptr = cookie,
	};

	reader->asker = gettid();
	CALL2(SYS_mq_notify, queue, &how);
	return NULL;
}

/* Asks by whatever descriptors there are but that of the queue, which he gives away. */
static void asks_by_all(void *nothing)
{
	struct sigevent how = { .sigev_notify = SIGEV_NONE };
	int i;

	(void)nothing;
	reader->child = getpid();
	check(!mq_close(queue), "mq_close");
	for (i = 0; i < DESCRIPTORS; i++)
		mq_notify(i, &how);
	reader->state = HAS_ASKED;
	while (reader->state != IS_TO_END)
		usleep(1000);
}

/* Somebody else, who may read the queue, but not send. */
static void reads_only(void *nothing)
{
	char text[SIZE];
	int i;

	(void)nothing;
	check(!mq_close(queue), "mq_close");
	check(!setgroups(0, NULL) && !setgid(1000) && !setuid(1000), "setuid");
	check(mq_open(NAME, O_WRONLY) < 0 && errno == EACCES, "it may send");
	queue = mq_open(NAME, O_RDONLY);
	check(queue >= 0, "mq_open: %s", strerror(errno));
	begin_thread(0, asks, (void *)(intptr_t)full_socket());
	await_sleep(&reader->asker);
	for (i = 0; i < DESCRIPTORS; i++) {
		check(queue_send(i, "evil", 4, 5, 0) == -EBADF, "it sends by descriptor %d", i);
		check(i == queue || queue_receive(i, text, SIZE, NULL, 0) == -EBADF, "it receives by %d", i);
	}
	spawn(asks_by_all, NULL);
	while (reader->state != HAS_ASKED)
		usleep(1000);
}

/* Whoever may only read a queue cannot keep its owner from being told of messages. */
void queue_told_beside_readers(void)
{
	struct sigaction action = { .sa_sigaction = is_told, .sa_flags = SA_SIGINFO };
	struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 77 };
	int i;

	reader = shared(sizeof(*reader));
	mark(0);
	check(!sigaction(SIGUSR1, &action, NULL), "sigaction");
	queue = make_named_queue(NAME, 4, SIZE, 0);
	check(!fchmod(queue, 0644), "fchmod: %s", strerror(errno));
	check(!status_of(spawn(reads_only, NULL)), "the reader");
	reader->state = IS_TO_END;
	while (!kill(reader->child, 0))
		usleep(1000);
	for (i = 1; i <= 3; i++) {
		check(!mq_notify(queue, &how), "mq_notify: %s", strerror(errno));
		sends(queue, i, 0);
		check(told == i && received(queue) == (uint32_t)i, "told %d times of %d", (int)told, i);
	}
	check(!mq_unlink(NAME), "mq_unlink");
}
