// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program for EVL: buffers between the stages, proxies, polling, heaps, locks for readers and
 * writers, observables, and nothing of Pillion's. The first failure ends the program.
 */
#include <evl/evl.h>
#include <fcntl.h>
#include <sys/eventfd.h>

#include "../check.h"
#include "later.h"

/* Whether there is primary mode; in Linux alone, all else is the same. */
static bool has_primary;

static bool is_primary(void)
{
	return !has_primary || !evl_is_inband();
}

/* Lets others run that long; in Linux alone longer, where they may have to wait for a processor. */
static int lets_run(int us)
{
	return evl_usleep(has_primary ? us : 20 * us);
}

static int xbuf;

static void *echoes(void *nothing)
{
	char text[64];
	int i;

	check(evl_attach_self("echoes") >= 0);
	for (i = 0; i < 100; i++) {
		check(oob_read(xbuf, text, 8) == 8 && is_primary());
		text[0]++;
		check(oob_write(xbuf, text, 8) == 8 && is_primary());
	}
	return nothing;
}

static void buffers(void)
{
	struct pollfd file;
	pthread_t thread;
	char text[8];
	int i;

	xbuf = evl_new_xbuf(1024, "xbuf");
	check(xbuf >= 0 && evl_new_xbuf(16, "xbuf") == -EEXIST && evl_new_xbuf(0, NULL) == -EINVAL);
	check(oob_read(xbuf, text, 8) == -1 && errno == EPERM);
	thread = start(50, echoes, NULL);
	file = (struct pollfd){ xbuf, POLLIN, 0 };
	for (i = 0; i < 100; i++) {
		memcpy(text, "abcdefg", 8);
		check(write(xbuf, text, 8) == 8 && poll(&file, 1, 5000) == 1);
		check(read(xbuf, text, 8) == 8 && !strcmp(text, "bbcdefg"));
	}
	pthread_join(thread, NULL);
	check(!close(xbuf));
	/* The name is free again. */
	xbuf = evl_create_xbuf(0, 64, EVL_CLONE_NONBLOCK, "xbuf");
	check(xbuf >= 0 && read(xbuf, text, 1) == -1 && errno == EAGAIN && !close(xbuf));
	printf("ok buffers\n");
}

#define BULK (64 << 10)

static void *passes_on(void *nothing)
{
	char bytes[512];
	int i;

	check(evl_attach_self("passes on") >= 0);
	for (i = 0; i < BULK / 512; i++) {
		check(oob_read(xbuf, bytes, 512) == 512);
		check(oob_write(xbuf, bytes, 512) == 512 && is_primary());
	}
	return nothing;
}

static void *feeds(void *nothing)
{
	unsigned char byte;
	int i;

	for (i = 0; i < BULK; i++) {
		byte = i * 7 + i / 256;
		check(write(xbuf, &byte, 1) == 1);
	}
	return nothing;
}

/* More bytes than there is room for, in pieces of other sizes. */
static void bulk(void)
{
	pthread_t threads[2];
	unsigned char bytes[1000];
	ssize_t size;
	int done, i;

	xbuf = evl_new_xbuf(1024, NULL);
	threads[0] = start(50, passes_on, NULL);
	threads[1] = start(0, feeds, NULL);
	for (done = 0; done < BULK; done += size) {
		size = read(xbuf, bytes, sizeof(bytes));
		check(size > 0);
		for (i = 0; i < size; i++)
			check(bytes[i] == (unsigned char)((done + i) * 7 + (done + i) / 256));
	}
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	check(!close(xbuf));
	printf("ok bulk\n");
}

/* More than there may be at a time, one after the other. */
static void *many(void *nothing)
{
	char byte;
	int i;

	check(evl_attach_self("many") >= 0);
	for (i = 0; i < 80; i++) {
		xbuf = evl_new_xbuf(16, "many");
		check(xbuf >= 0 && oob_write(xbuf, "x", 1) == 1 && read(xbuf, &byte, 1) == 1 && byte == 'x');
		check(write(xbuf, "y", 1) == 1 && oob_read(xbuf, &byte, 1) == 1 && byte == 'y');
		check(!close(xbuf));
	}
	printf("ok many\n");
	return nothing;
}

static void *writes(void *argument)
{
	int *proxies = argument, i;
	__u64 one = 1;

	check(evl_attach_self("writes") >= 0);
	has_primary = !evl_is_inband();
	for (i = 0; i < 100; i++) {
		check(evl_print_proxy(proxies[0], "line %03d\n", i) == 9 && is_primary());
		check(oob_write(proxies[1], &one, sizeof(one)) == sizeof(one) && is_primary());
	}
	check(oob_write(proxies[1], &one, 4) == -1 && errno == EINVAL);
	check(evl_printf("ok printing, in %s\n", has_primary ? "primary mode" : "Linux alone") > 0 && is_primary());
	return NULL;
}

static void *reads(void *proxy)
{
	char text[64];
	ssize_t size;
	int sum = 0;

	check(evl_attach_self("reads") >= 0);
	while ((size = oob_read(*(int *)proxy, text, sizeof(text))) > 0)
		sum += size;
	check(!size && sum == 5000 && is_primary());
	return NULL;
}

static void proxies(void)
{
	int ends[2], counter = eventfd(0, EFD_NONBLOCK), made[2], i;
	char line[16], bytes[50] = { 0 };
	pthread_t thread;
	__u64 count, sum = 0;

	check(!pipe(ends) && counter >= 0);
	made[0] = evl_new_proxy(ends[1], 4096, "proxy:%d", getpid());
	made[1] = evl_create_proxy(counter, 64, sizeof(count), EVL_CLONE_OUTPUT, NULL);
	check(made[0] >= 0 && made[1] >= 0 && evl_create_proxy(-1, 64, 0, 0, NULL) == -EBADF);
	pthread_join(start(50, writes, made), NULL);
	for (i = 0; i < 100; i++) {
		char wanted[32];

		snprintf(wanted, sizeof(wanted), "line %03d\n", i);
		check(read(ends[0], line, 9) == 9 && !memcmp(line, wanted, 9));
	}
	/* The last ones are on their way still. */
	while (sum < 100) {
		sum += read(counter, &count, sizeof(count)) > 0 ? count : 0;
		rest(MS);
	}
	check(sum == 100 && evl_send_proxy(counter, &count, 8) == -EBADF && !close(made[0]) && !close(made[1]));
	made[0] = evl_create_proxy(ends[0], 1024, 0, EVL_CLONE_INPUT, NULL);
	check(made[0] >= 0 && evl_send_proxy(made[0], "x", 1) == -EBADF);
	thread = start(50, reads, &made[0]);
	for (i = 0; i < 100; i++)
		check(write(ends[1], bytes, 50) == 50);
	check(!close(ends[1]));
	pthread_join(thread, NULL);
	check(!close(made[0]) && !close(ends[0]) && !close(counter));
	printf("ok proxies\n");
}

static struct evl_sem sem;
static struct evl_flags flags;

static void *wakes(void *nothing)
{
	check(evl_attach_self(NULL) >= 0 && !lets_run(2000) && !evl_put_sem(&sem));
	check(!lets_run(2000) && !evl_post_flags(&flags, 4));
	return nothing;
}

static void *polls(void *nothing)
{
	int set = evl_new_poll(), timer = evl_new_timer(EVL_CLOCK_MONOTONIC), semaphore, group, bits;
	struct itimerspec value = { .it_value = later(8 * MS) };
	struct evl_poll_event events[4];
	struct timespec end;
	pthread_t thread;
	__u64 ticks;

	check(set >= 0 && timer >= 0 && evl_attach_self("polls") >= 0);
	semaphore = evl_new_sem(&sem, NULL);
	group = evl_new_flags(&flags, NULL);
	check(!evl_add_pollfd(set, timer, POLLIN, evl_intval(1)) && !evl_add_pollfd(set, semaphore, POLLIN, evl_intval(2)));
	check(!evl_add_pollfd(set, group, POLLIN, evl_nil) && !evl_mod_pollfd(set, group, POLLIN, evl_intval(3)));
	check(evl_add_pollfd(set, timer, POLLIN, evl_nil) == -EEXIST && evl_add_pollfd(set, 0, POLLIN, evl_nil) == -EBADF);
	check(evl_add_pollfd(set, set, POLLIN, evl_nil) == -EPERM && evl_mod_pollfd(set, 0, POLLIN, evl_nil) == -ENOENT);
	end = later(MS);
	check(evl_timedpoll(set, events, 4, &end) == -ETIMEDOUT && is_primary());
	thread = start(30, wakes, NULL);
	check(evl_poll(set, events, 4) == 1 && events[0].pollval.val == 2 && (int)events[0].fd == semaphore);
	check(!evl_tryget_sem(&sem) && evl_poll(set, events, 4) == 1 && events[0].pollval.val == 3);
	check(!evl_trywait_flags(&flags, &bits) && bits == 4 && is_primary());
	pthread_join(thread, NULL);
	value.it_value = later(5 * MS);
	check(!evl_set_timer(timer, &value, NULL));
	check(evl_poll(set, events, 4) == 1 && events[0].pollval.val == 1 && events[0].events == POLLIN);
	check(!evl_put_sem(&sem) && evl_poll(set, events, 4) == 2 && evl_poll(set, events, 1) == 1);
	check(oob_read(timer, &ticks, sizeof(ticks)) == sizeof(ticks) && ticks == 1);
	check(!evl_del_pollfd(set, semaphore) && evl_del_pollfd(set, semaphore) == -ENOENT);
	/* One that is closed is not in the set any more. */
	check(!evl_post_flags(&flags, 1) && evl_poll(set, events, 4) == 1 && !evl_close_flags(&flags));
	end = later(MS);
	check(evl_timedpoll(set, events, 4, &end) == -ETIMEDOUT && !close(timer) && !close(set) && !evl_close_sem(&sem));
	printf("ok polls\n");
	return nothing;
}

DECLARE_EVL_CANISTER(canister, long);
DECLARE_EVL_TUBE(tube, canister);
DECLARE_EVL_TUBE_REL(shared_tube, canister);

#define SENDERS 3
#define ITEMS 2000L

static struct tube tube;

static void *sends_items(void *number)
{
	long item;

	for (item = 0; item < ITEMS; item++)
		while (!evl_send_tube(&tube, SENDERS * item + (long)number))
			rest(MS / 10);
	return NULL;
}

/* Several threads send at once; what each sends comes in its order, and once. */
static void *tubes(void *nothing)
{
	static struct canister room[5];
	static char memory[evl_get_tube_size_rel(shared_tube, 3)] __attribute__((aligned(16)));
	struct shared_tube *shared = (struct shared_tube *)memory;
	long next[SENDERS] = { 0 }, item, count;
	pthread_t senders[SENDERS];

	evl_init_tube(&tube, room, 5);
	check(!evl_receive_tube(&tube, item));
	for (item = 0; item < 5; item++)
		check(evl_send_tube(&tube, item));
	check(!evl_send_tube(&tube, item));
	for (count = 0; count < 5; count++)
		check(evl_receive_tube(&tube, item) && item == count);
	for (item = 0; item < SENDERS; item++)
		senders[item] = start(20 + item, sends_items, (void *)item);
	for (count = 0; count < SENDERS * ITEMS;)
		if (evl_receive_tube(&tube, item)) {
			check(item / SENDERS == next[item % SENDERS]++);
			count++;
		} else {
			rest(MS / 10);
		}
	for (item = 0; item < SENDERS; item++)
		pthread_join(senders[item], NULL);
	check(!evl_receive_tube(&tube, item));
	evl_init_tube_rel(shared, sizeof(memory));
	for (item = 0; item < 3; item++)
		check(evl_send_tube_rel(shared, item));
	check(!evl_send_tube_rel(shared, item) && evl_receive_tube_rel(shared, item) && item == 0);
	printf("ok tubes\n");
	return nothing;
}

/* Memory for a heap can be that of a variable. */
static char heap_memory[EVL_HEAP_RAW_SIZE(100000)];

static void *heaps(void *nothing)
{
	size_t bytes = EVL_HEAP_RAW_SIZE(10000), i;
	char *memory = malloc(2 * bytes + 3);
	void *blocks[300];
	struct evl_heap heap;

	check(evl_attach_self("heaps") >= 0 && !evl_init_heap(&heap, memory + 3, bytes));
	check(evl_init_heap(&heap, memory, 16) == -EINVAL && !evl_init_heap(&heap, memory + 3, bytes));
	check(evl_heap_raw_size(&heap) == bytes && evl_heap_size(&heap) >= 10000 && !evl_heap_used(&heap));
	for (i = 0; i < 300 && (blocks[i] = evl_alloc_block(&heap, 100)); i++)
		memset(blocks[i], i, 100);
	check(i >= 80 && i < 300 && evl_check_block(&heap, blocks[0]) >= 100);
	check(evl_heap_used(&heap) >= i * 100 && !evl_extend_heap(&heap, memory + 3 + bytes, bytes));
	blocks[i] = evl_alloc_block(&heap, 100);
	check(blocks[i] && evl_check_block(&heap, (char *)blocks[0] + 8) == -EINVAL);
	do
		check(!evl_free_block(&heap, blocks[i]));
	while (i--);
	check(!evl_heap_used(&heap) && evl_free_block(&heap, memory) == -EINVAL && is_primary());
	evl_destroy_heap(&heap);
	check(!evl_init_heap(&heap, heap_memory, sizeof(heap_memory)) && evl_alloc_block(&heap, 100000));
	evl_destroy_heap(&heap);
	free(memory);
	printf("ok heaps\n");
	return nothing;
}

static struct evl_rwlock rwlock = EVL_RWLOCK_INITIALIZER("rwlock", EVL_CLOCK_MONOTONIC, EVL_CLONE_PRIVATE);
static int order[3], entered;

static void *enters(void *writes)
{
	int own = *(int *)writes;

	check(evl_attach_self(NULL) >= 0);
	check(!(own == 1 ? evl_lock_write(&rwlock) : evl_lock_read(&rwlock)));
	order[own] = ++entered;
	check(!lets_run(2000) && !(own == 1 ? evl_unlock_write(&rwlock) : evl_unlock_read(&rwlock)));
	return NULL;
}

static void *rwlocks(void *nothing)
{
	static int numbers[3] = { 0, 1, 2 };
	pthread_t threads[3];
	struct timespec end;
	int i;

	check(evl_attach_self("rwlocks") >= 0 && !evl_lock_read(&rwlock) && !evl_trylock_read(&rwlock));
	check(evl_trylock_write(&rwlock) == -EBUSY && !evl_unlock_read(&rwlock));
	end = later(MS);
	check(evl_timedlock_write(&rwlock, &end) == -ETIMEDOUT && evl_unlock_write(&rwlock) == -EPERM);
	/* A writer that waits is more urgent than one reader, and less than the other. */
	threads[1] = start(31, enters, &numbers[1]);
	check(!lets_run(20000));
	threads[0] = start(30, enters, &numbers[0]);
	threads[2] = start(32, enters, &numbers[2]);
	check(!lets_run(20000) && is_primary() && order[2] == 1 && evl_trylock_write(&rwlock) == -EBUSY && !evl_unlock_read(&rwlock));
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	check(order[1] == 2 && order[0] == 3);
	check(!evl_lock_write(&rwlock) && evl_lock_write(&rwlock) == -EDEADLK && evl_trylock_read(&rwlock) < 0);
	check(!evl_unlock_write(&rwlock) && !evl_close_rwlock(&rwlock));
	printf("ok rwlocks\n");
	return nothing;
}

static int observable, observed;

static void *observes(void *nothing)
{
	struct evl_notification read[8];
	int i, count, sum = 0;

	check(evl_attach_self("observes") >= 0 && evl_read_observable(observable, read, 8) == -ENXIO);
	check(!evl_subscribe(observable, 16, 0) && evl_subscribe(observable, 16, 0) == -EEXIST);
	for (i = 0; i < 10; i += count) {
		count = evl_read_observable(observable, read, 8);
		check(count > 0 && read[0].tag == EVL_NOTICE_USER + 1 && read[0].serial == (__u32)i);
		sum += read[0].event.val;
	}
	check(sum && is_primary() && !evl_unsubscribe(observable) && evl_unsubscribe(observable) == -ENOENT);
	return nothing;
}

static void *is_observed(void *nothing)
{
	struct evl_mutex mutex;

	observed = evl_attach_thread(EVL_CLONE_OBSERVABLE, "observed");
	check(observed >= 0 && evl_new_mutex(&mutex, NULL) >= 0 && !evl_set_thread_mode(observed, EVL_T_WOLI, NULL));
	check(!evl_set_thread_mode(observed, EVL_T_HMOBS, NULL) && !evl_clear_thread_mode(observed, EVL_T_HMSIG, NULL));
	check(!lets_run(50000) && evl_unlock_mutex(&mutex) == -EPERM && !evl_close_mutex(&mutex));
	return nothing;
}

static void *observables(void *nothing)
{
	struct evl_notice notice = { EVL_NOTICE_USER + 1, evl_nil };
	struct evl_notification read[4];
	pthread_t thread;
	int i, unicast;

	observable = evl_new_observable("observable");
	check(observable >= 0 && evl_attach_self("observables") >= 0);
	check(!evl_update_observable(observable, &notice, 1));
	check(!close(observable));
	observable = evl_new_observable("observable");
	thread = start(60, observes, NULL);
	check(!lets_run(20000));
	for (i = 1; i <= 10; i++) {
		notice.event.val = i;
		check(evl_update_observable(observable, &notice, 1) == 1 && is_primary());
	}
	pthread_join(thread, NULL);
	/* Only what has changed; and when there is no room. */
	check(!evl_subscribe(observable, 2, EVL_NOTIFY_ONCHANGE));
	for (i = 0; i < 4; i++) {
		notice.event.val = i / 2;
		check(evl_update_observable(observable, &notice, 1) == 1);
	}
	notice.event.val = 7;
	check(!evl_update_observable(observable, &notice, 1) && evl_read_observable(observable, read, 4) == 2);
	check(read[0].event.val == 0 && read[1].event.val == 1 && read[1].issuer && !close(observable));
	notice.tag = 1;
	unicast = evl_create_observable(EVL_CLONE_UNICAST, NULL);
	check(evl_update_observable(unicast, &notice, 1) == -EINVAL && !close(unicast));
	/* What a thread is told of. */
	thread = start(60, is_observed, NULL);
	check(!lets_run(20000) && !evl_subscribe(observed, 4, 0) && evl_read_observable(observed, read, 4) == 1);
	check(read[0].tag == EVL_HMDIAG_LKIMBALANCE && is_primary());
	pthread_join(thread, NULL);
	printf("ok observables\n");
	return nothing;
}

int main(void)
{
	static void *(*const tests[])(void *) = { many, polls, heaps, tubes, rwlocks, observables };
	unsigned int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	proxies();
	buffers();
	bulk();
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		pthread_join(start(50, tests[i], NULL), NULL);
	printf("ok data\n");
	return 0;
}
