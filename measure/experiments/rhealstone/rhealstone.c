/*
 * The six operations of the Rhealstone benchmark (Kar and Porter 1989, Kar 1990) between threads of
 * one task, and one of them between two tasks. README.md describes each of them.
 *
 * The main thread runs them and is less urgent than all their threads.
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <fcntl.h>
#include <mbuff.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <pillion.h>

#include "../../include/measure.h"
#include "../../include/measure/team.h"
#include "rhealstone.h"

#define HIGH 50
#define MEDIUM 40

/* Time from arming the timer to its interrupt. */
#define TIMER_NS 100000
#define MESSAGE 64
#define DATAGRAM 4096
#define QUEUE "/rhealstone"

static int samples = 10000;
MODULE_PARM(samples, "i");
/* Passed by the script in Linux that starts tasks; the program takes as long as it needs. */
static int seconds;
MODULE_PARM(seconds, "i");

static pthread_t teller, raised_thread;
/* Set by one thread, and read by the one that it switches to. */
static volatile unsigned long long before;
/* Start and end of a computation that is excluded from what is measured. */
static volatile unsigned long long from, to;
static volatile int stop;

/* Task switch: two threads of the same priority yield to each other. */

static struct series task_switch;

static void *yield(void *unused)
{
	int i;

	before = ticks();
	for (i = 0; i < samples / 2; i++) {
		before = ticks();
		sched_yield();
		/* For the second thread's last yields, no other thread yields back. */
		if (!stop)
			series_add(&task_switch, ticks() - before);
	}
	stop = 1;
	return unused;
}

/* Preemption: a thread raises a ready thread's priority above its own. */

static struct series preemption;

static void *raised(void *unused)
{
	/* Below the thread that raises it, so that it is ready but does not run. */
	raised_thread = pthread_self();
	pthread_setschedprio(raised_thread, LOW);
	while (!stop) {
		series_add(&preemption, ticks() - before);
		pthread_setschedprio(raised_thread, LOW);
	}
	return unused;
}

static void *raising(void *unused)
{
	int i;

	for (i = 0; i < samples; i++) {
		before = ticks();
		pthread_setschedprio(raised_thread, HIGH);
	}
	stop = 1;
	return unused;
}

/* Interrupt latency: from the timer's deadline to its handler, while a thread computes. */

static struct series interrupt_latency;
static volatile unsigned long long handled;
static sem_t arrived;

static void handle(struct pt_regs *unused)
{
	handled = ticks();
	sem_post(&arrived);
}

static void *interrupted(void *unused)
{
	unsigned long long armed;
	int i;

	rtl_setclockhandler(CLOCK_APIC, handle);
	for (i = 0; i < samples / 10; i++) {
		/* The call reads the clock a few instructions later, so these count as latency. */
		armed = ticks();
		CLOCK_APIC->settimer(CLOCK_APIC, TIMER_NS);
		sem_wait(&arrived);
		series_add(&interrupt_latency, handled - armed - TIMER_NS);
	}
	rtl_unsetclockhandler(CLOCK_APIC);
	stop = 1;
	return unused;
}

static void *compute(void *unused)
{
	while (!stop)
		;
	return unused;
}

/* Semaphore shuffle: high wants what low holds; the time that low computes is excluded. */

static struct series semaphore_shuffle;
static sem_t taken, asked;

static void *shuffle_high(void *unused)
{
	unsigned long long start, end;
	int i;

	for (i = 0; i < samples; i++) {
		sem_wait(&asked);
		start = ticks();
		sem_wait(&taken);
		end = ticks();
		series_add(&semaphore_shuffle, (end - to) + (from - start));
	}
	return unused;
}

static void *shuffle_low(void *unused)
{
	int i;

	for (i = 0; i < samples; i++) {
		/* High runs at once, and waits for what this thread holds. */
		sem_post(&asked);
		from = ticks();
		to = ticks();
		sem_post(&taken);
	}
	return unused;
}

/* The same between two address spaces: low is a thread of partner.c. */

static struct series semaphore_shuffle_spaces;
static struct shuffle *shuffle;
static sem_t *partner_begin, *partner_asked, *partner_taken;

static void *shuffle_spaces_high(void *unused)
{
	unsigned long long start, end;
	int i;

	sem_post(partner_begin);
	for (i = 0; i < samples; i++) {
		sem_wait(partner_asked);
		start = ticks();
		sem_wait(partner_taken);
		end = ticks();
		series_add(&semaphore_shuffle_spaces, (end - shuffle->to) + (shuffle->from - start));
	}
	return unused;
}

static int partner_open(void)
{
	shuffle = mbuff_alloc(SHUFFLE, sizeof(*shuffle));
	partner_begin = sem_open(SHUFFLE_BEGIN, O_CREAT, 0600, 0);
	partner_asked = sem_open(SHUFFLE_ASKED, O_CREAT, 0600, 0);
	partner_taken = sem_open(SHUFFLE_TAKEN, O_CREAT, 0600, 0);
	if (!shuffle || partner_begin == SEM_FAILED || partner_asked == SEM_FAILED || partner_taken == SEM_FAILED)
		return -ENOMEM;
	shuffle->samples = samples;
	return 0;
}

static void partner_close(void)
{
	sem_close(partner_taken);
	sem_close(partner_asked);
	sem_close(partner_begin);
	mbuff_free(SHUFFLE, shuffle);
}

/* Deadlock breaking: high wants the mutex of low, which medium would keep from running forever. */

static struct series deadlock_breaking;
static pthread_mutex_t mutex;
static sem_t round_begins, medium_begins;

static void *deadlock_high(void *unused)
{
	unsigned long long start, end;
	int i;

	for (i = 0; i < samples; i++) {
		sem_wait(&round_begins);
		/* Medium is ready from now on, and more urgent than low, which holds the mutex. */
		sem_post(&medium_begins);
		start = ticks();
		pthread_mutex_lock(&mutex);
		end = ticks();
		series_add(&deadlock_breaking, (end - to) + (from - start));
		stop = 1;
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void *deadlock_medium(void *unused)
{
	int i;

	for (i = 0; i < samples; i++) {
		sem_wait(&medium_begins);
		while (!stop)
			;
	}
	return unused;
}

static void *deadlock_low(void *unused)
{
	int i;

	for (i = 0; i < samples; i++) {
		stop = 0;
		pthread_mutex_lock(&mutex);
		sem_post(&round_begins);
		from = ticks();
		to = ticks();
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

/* Messages: from low's mq_send until high has received it; and the throughput in bytes. */

static struct series message_latency;
static unsigned long long datagram_time;

static mqd_t queue(int flags)
{
	struct mq_attr attributes = { .mq_maxmsg = 4, .mq_msgsize = DATAGRAM };

	return mq_open(QUEUE, flags | O_CREAT, 0600, &attributes);
}

static void *receive(void *unused)
{
	static char message[DATAGRAM];
	mqd_t own = queue(O_RDONLY);
	int i;

	for (i = 0; i < samples; i++) {
		mq_receive(own, message, sizeof(message), NULL);
		series_add(&message_latency, ticks() - before);
	}
	for (i = 0; i < samples / 10; i++)
		mq_receive(own, message, sizeof(message), NULL);
	mq_close(own);
	return unused;
}

static void *send(void *unused)
{
	static char message[DATAGRAM];
	mqd_t own = queue(O_WRONLY);
	int i;

	for (i = 0; i < samples; i++) {
		before = ticks();
		mq_send(own, message, MESSAGE, 0);
	}
	datagram_time = ticks();
	for (i = 0; i < samples / 10; i++)
		mq_send(own, message, DATAGRAM, 0);
	datagram_time = ticks() - datagram_time;
	mq_close(own);
	mq_unlink(QUEUE);
	return unused;
}

static void measure(void)
{
	pthread_mutexattr_t inherits;

	stop = 0;
	TEAM_RUN({ MEDIUM, yield }, { MEDIUM, yield });
	stop = 0;
	TEAM_RUN({ HIGH, raised }, { MEDIUM, raising });
	stop = 0;
	sem_init(&arrived, 1, 0);
	TEAM_RUN({ HIGH, interrupted }, { LOW, compute });

	sem_init(&taken, 1, 0);
	sem_init(&asked, 1, 0);
	TEAM_RUN({ HIGH, shuffle_high }, { LOW, shuffle_low });
	TEAM_RUN({ HIGH, shuffle_spaces_high });

	sem_init(&round_begins, 1, 0);
	sem_init(&medium_begins, 1, 0);
	pthread_mutexattr_init(&inherits);
	pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &inherits);
	TEAM_RUN({ HIGH, deadlock_high }, { MEDIUM, deadlock_medium }, { LOW, deadlock_low });

	TEAM_RUN({ HIGH, receive }, { LOW, send });
}

/* Kar 1990: operations per second if all six are equally frequent. */
static void tell_number(void)
{
	const struct series *all[] = { &task_switch,	   &preemption,	       &interrupt_latency,
				       &semaphore_shuffle, &deadlock_breaking, &message_latency };
	unsigned long long sum = 0;
	int i;

	for (i = 0; i < 6; i++)
		sum += series_mean(all[i]);
	line_say("figure rhealstone %llu 1/s", 6 * 10000000000ULL / sum);
}

static void tell_operations(void)
{
	unsigned long long bytes = (unsigned long long)(samples / 10) * DATAGRAM;

	series_tell(&task_switch, "task_switch", "ns");
	series_tell(&preemption, "preemption", "ns");
	series_tell(&interrupt_latency, "interrupt_latency", "ns");
	series_tell(&semaphore_shuffle, "semaphore_shuffle", "ns");
	series_tell(&semaphore_shuffle_spaces, "semaphore_shuffle_spaces", "ns");
	series_tell(&deadlock_breaking, "deadlock_breaking", "ns");
	series_tell(&message_latency, "message_latency", "ns");
	line_say("figure datagram_throughput %llu MB/s", bytes * 1000 / datagram_time);
	tell_number();
}

static void *tell_all(void *unused)
{
	tell_operations();
	/* The partner may end now. */
	sem_post(partner_begin);
	pillion_unload();
	return unused;
}

int init_module(void)
{
	int error = partner_open();

	if (error)
		return error;
	measure();
	return thread_start(&teller, HIGH, tell_all, NULL);
}

void cleanup_module(void)
{
	pthread_join(teller, NULL);
	partner_close();
}
