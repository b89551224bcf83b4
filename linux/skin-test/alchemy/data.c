// SPDX-License-Identifier: GPL-2.0-only
/* Queues, buffers, heaps, and pipes to Linux. */
#include <alchemy/buffer.h>
#include <alchemy/heap.h>
#include <alchemy/pipe.h>
#include <alchemy/queue.h>
#include <alchemy/task.h>
#include <fcntl.h>

#include "../check.h"

static RT_QUEUE queue;
static RT_BUFFER buffer;
static RT_HEAP heap;
static RT_PIPE pipe_to_linux;
static int received;

static void receives(void *nothing)
{
	void *message;
	ssize_t size = rt_queue_receive(&queue, &message, TM_INFINITE);

	(void)nothing;
	check(size == 6 && !strcmp(message, "to all") && !rt_queue_free(&queue, message));
	received++;
}

static void queues(void *nothing)
{
	RT_QUEUE_INFO info;
	RT_TASK tasks[2];
	char text[16];
	void *message, *other;
	int i;

	(void)nothing;
	check(!rt_queue_create(&queue, "queue", 1024, 4, Q_PRIO));
	message = rt_queue_alloc(&queue, 64);
	check(message && rt_queue_alloc(&queue, 4096) == NULL);
	strcpy(message, "first");
	check(rt_queue_send(&queue, message, 6, Q_NORMAL) == 0 && rt_queue_write(&queue, "second", 7, Q_NORMAL) == 0);
	check(rt_queue_write(&queue, "urgent", 7, Q_URGENT) == 0 && rt_queue_write(&queue, "", 0, Q_NORMAL) == 0);
	check(rt_queue_write(&queue, "x", 1, Q_NORMAL) == -ENOMEM && !rt_queue_inquire(&queue, &info));
	check(info.nmessages == 4 && info.qlimit == 4 && info.poolsize == 1024 && !strcmp(info.name, "queue"));
	check(rt_queue_read(&queue, text, sizeof(text), TM_INFINITE) == 7 && !strcmp(text, "urgent"));
	check(rt_queue_receive(&queue, &other, TM_NONBLOCK) == 6 && other == message && !strcmp(other, "first"));
	check(!rt_queue_free(&queue, other) && rt_queue_free(&queue, &info) == -EINVAL);
	check(rt_queue_read(&queue, text, 3, TM_INFINITE) == 3 && !memcmp(text, "sec", 3));
	check(rt_queue_flush(&queue) == 1 && rt_queue_read(&queue, text, 3, TM_NONBLOCK) == -EWOULDBLOCK);
	check(rt_queue_read(&queue, text, 3, MS) == -ETIMEDOUT);
	for (i = 0; i < 2; i++)
		check(!rt_task_spawn(&tasks[i], NULL, 0, 60, T_JOINABLE, receives, NULL));
	do
		check(!rt_task_sleep(MS) && !rt_queue_inquire(&queue, &info));
	while (info.nwaiters != 2);
	check(rt_queue_write(&queue, "to all", 6, Q_BROADCAST) == 2);
	for (i = 0; i < 2; i++)
		check(!rt_task_join(&tasks[i]));
	check(received == 2 && !rt_queue_inquire(&queue, &info) && info.usedmem == 0 && !rt_queue_delete(&queue));
	printf("ok queues\n");
}

static void writes(void *nothing)
{
	int i;

	(void)nothing;
	for (i = 0; i < 100; i++)
		check(rt_buffer_write(&buffer, &i, sizeof(i), TM_INFINITE) == sizeof(i));
}

static void buffers(void *nothing)
{
	RT_BUFFER_INFO info;
	RT_TASK writer;
	int pair[2], i;
	char text[16];

	(void)nothing;
	check(!rt_buffer_create(&buffer, "buffer", 16, B_FIFO));
	check(!rt_task_spawn(&writer, NULL, 0, 60, T_JOINABLE, writes, NULL));
	for (i = 0; i < 50; i++)
		check(rt_buffer_read(&buffer, pair, sizeof(pair), TM_INFINITE) == sizeof(pair) && pair[0] == 2 * i && pair[1] == 2 * i + 1);
	check(!rt_task_join(&writer) && rt_buffer_read(&buffer, text, 4, TM_NONBLOCK) == -EWOULDBLOCK);
	check(rt_buffer_write(&buffer, "0123456789abcdef", 16, TM_NONBLOCK) == 16);
	check(rt_buffer_write(&buffer, "x", 1, MS) == -ETIMEDOUT && rt_buffer_write(&buffer, "x", 17, TM_INFINITE) == -EINVAL);
	check(!rt_buffer_inquire(&buffer, &info) && info.totalmem == 16 && info.availmem == 0);
	check(!rt_buffer_clear(&buffer) && !rt_buffer_inquire(&buffer, &info) && info.availmem == 16);
	check(!rt_buffer_delete(&buffer) && rt_buffer_clear(&buffer) == -EINVAL);
	printf("ok buffers\n");
}

static void frees(void *block)
{
	rt_task_sleep(MS);
	check(!rt_heap_free(&heap, block));
}

static void heaps(void *nothing)
{
	void *first, *second, *third;
	RT_HEAP_INFO info;
	RT_TASK task;

	(void)nothing;
	check(!rt_heap_create(&heap, "heap", 4096, H_PRIO) && !rt_heap_alloc(&heap, 3000, TM_INFINITE, &first));
	check(rt_heap_alloc(&heap, 3000, TM_NONBLOCK, &second) == -EWOULDBLOCK && rt_heap_alloc(&heap, 3000, MS, &second) == -ETIMEDOUT);
	check(!rt_task_spawn(&task, NULL, 0, 40, T_JOINABLE, frees, first));
	check(!rt_heap_alloc(&heap, 3000, TM_INFINITE, &second) && !rt_task_join(&task) && rt_heap_free(&heap, &info) == -EINVAL);
	check(!rt_heap_free(&heap, second) && !rt_heap_inquire(&heap, &info) && info.usedmem == 0 && info.heapsize == 4096);
	check(!rt_heap_delete(&heap) && !rt_heap_create(&heap, "single", 4096, H_SINGLE));
	check(!rt_heap_alloc(&heap, 0, TM_INFINITE, &first) && !rt_heap_alloc(&heap, 4096, TM_INFINITE, &third) && first == third);
	check(!rt_heap_delete(&heap));
	printf("ok heaps\n");
}

static void *echoes(void *device)
{
	int file = open(device, O_RDWR), i;
	char text[64];
	ssize_t size;

	check(file >= 0);
	for (i = 0; i < 10; i++) {
		size = read(file, text, sizeof(text));
		check(size > 0 && write(file, text, size) == size);
	}
	check(!close(file));
	return NULL;
}

static void pipes(void *nothing)
{
	char device[32], text[64], back[64];
	int minor, i;
	pthread_t echo;

	(void)nothing;
	if (access("/dev/rtp", F_OK)) {
		check(rt_pipe_create(&pipe_to_linux, "pipe", P_MINOR_AUTO, 0) < 0);
		printf("there are no message pipes\n");
		return;
	}
	minor = rt_pipe_create(&pipe_to_linux, "pipe", P_MINOR_AUTO, 0);
	check(minor >= 0);
	sprintf(device, "/dev/rtp%d", minor);
	echo = start(0, echoes, device);
	for (i = 0; i < 10; i++) {
		int size = sprintf(text, "message %d", i);

		check(rt_pipe_write(&pipe_to_linux, text, size, P_NORMAL) == size);
		check(rt_pipe_read(&pipe_to_linux, back, sizeof(back), TM_INFINITE) == size && !memcmp(text, back, size));
	}
	pthread_join(echo, NULL);
	check(rt_pipe_read(&pipe_to_linux, back, sizeof(back), TM_NONBLOCK) == -EWOULDBLOCK);
	check(rt_pipe_stream(&pipe_to_linux, text, 5) == 5 && !rt_pipe_delete(&pipe_to_linux));
	printf("ok pipes\n");
}

int main(void)
{
	static void (*const tests[])(void *) = { queues, buffers, heaps, pipes };
	RT_TASK task;
	unsigned int i;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		check(!rt_task_spawn(&task, "test", 0, 50, T_JOINABLE, tests[i], NULL) && !rt_task_join(&task));
	return 0;
}
