/*
 * Kernel latency time: an urgent thread, woken by a timer, wants something just while a less urgent
 * one holds it: a mutex of this task, or the broker, the server for objects that tasks share.
 * README.md describes the figures.
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
#include "klt.h"

#define HIGH 50
#define LOW 30

/* How long low computes in its critical section. */
#define SECTION_NS 20000
/*
 * The timer is armed at least LEAD_NS before low asks for the section. MARGIN_NS allows for more:
 * for the broker, low first goes to sleep.
 */
#define LEAD_NS 1000
#define MARGIN_NS 6000
/* Time between two sections, for all others. */
#define PAUSE_US 100
/* How often a free section is timed. */
#define WARM_UP 20
/* Distance between places at which a section is interrupted. */
#define STEP_NS 20
#define PLACES_MOST 1600

#define HIGH_QUEUE "/klt-high"

/* Passed by the script in Linux that starts tasks; the program takes as long as it needs. */
static int seconds;
MODULE_PARM(seconds, "i");

/* A section that two threads want. */
struct section {
	const char *prefix;
	/*
	 * Makes low enter the section: `hold` in low itself, or `before_hold` by way of its
	 * partner, which enters the section when low sleeps.
	 */
	void (*before_hold)(void);
	void (*hold)(void);
	/*
	 * A thread of high's priority enters the section: with `alone` as low does, without
	 * contention; with `ask` as briefly as possible.
	 */
	void (*alone)(void);
	void (*ask)(void);
	/* Actions outside of the section. */
	void (*after_hold)(void);
	void (*after_ask)(void);
	unsigned long long length, free;
	struct series klt, pdlt, answer;
	struct points klt_at, pdlt_at;
};

static pthread_t teller;
static struct section *current;
static int places;
static sem_t arrived;
static volatile unsigned long long due;
static struct shared *shared;
static sem_t *partner_begin;

static pthread_mutex_t mutex;
static mqd_t low_queue, high_queue;
static char message[MESSAGE];

static void nothing(void)
{
}

static void mutex_hold(void)
{
	unsigned long long start;

	shared->began = ticks();
	pthread_mutex_lock(&mutex);
	start = ticks();
	while (ticks() - start < SECTION_NS)
		;
	pthread_mutex_unlock(&mutex);
}

static void mutex_ask(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void broker_before_hold(void)
{
	sem_post(partner_begin);
}

static void broker_alone(void)
{
	mq_send(low_queue, message, MESSAGE, 0);
}

static void broker_after_hold(void)
{
	mq_receive(low_queue, message, MESSAGE, NULL);
}

static void broker_ask(void)
{
	mq_send(high_queue, message, 1, 0);
}

static void broker_after_ask(void)
{
	mq_receive(high_queue, message, MESSAGE, NULL);
}

static struct point lists[4][PLACES_MOST];
static struct section sections[] = {
	{
		.prefix = "",
		.before_hold = nothing,
		.hold = mutex_hold,
		.alone = mutex_hold,
		.after_hold = nothing,
		.ask = mutex_ask,
		.after_ask = nothing,
		.klt_at = POINTS(lists[0]),
		.pdlt_at = POINTS(lists[1]),
	},
	{
		.prefix = "broker_",
		.before_hold = broker_before_hold,
		.hold = nothing,
		.alone = broker_alone,
		.after_hold = broker_after_hold,
		.ask = broker_ask,
		.after_ask = broker_after_ask,
		.klt_at = POINTS(lists[2]),
		.pdlt_at = POINTS(lists[3]),
	},
};

static void handle(struct pt_regs *unused)
{
	sem_post(&arrived);
}

/* The time that `call` takes without contention: the least of several attempts. */
static unsigned long long alone(void (*call)(void), void (*after)(void))
{
	unsigned long long least = ~0ULL, took;
	int i;

	for (i = 0; i < WARM_UP; i++) {
		took = ticks();
		call();
		took = ticks() - took;
		after();
		if (took < least)
			least = took;
	}
	return least;
}

static void note(struct section *section, unsigned long long woken, unsigned long long done)
{
	unsigned long long klt = done - woken > section->free ? done - woken - section->free : 0;

	/* An interrupt before low asked for the section is at no place of it. */
	if (due < shared->began)
		return;
	series_add(&section->klt, klt);
	series_add(&section->pdlt, woken - due);
	series_add(&section->answer, done - due);
	points_add(&section->klt_at, due - shared->began, klt);
	points_add(&section->pdlt_at, due - shared->began, woken - due);
}

static void *high(void *unused)
{
	unsigned long long woken, done;
	int i;

	for (i = 0; i < places; i++) {
		sem_wait(&arrived);
		woken = ticks();
		current->ask();
		done = ticks();
		note(current, woken, done);
		current->after_ask();
	}
	return unused;
}

static void *low(void *unused)
{
	int i;

	for (i = 0; i < places; i++) {
		hrtime_t distance = LEAD_NS + i * STEP_NS;

		shared->began = NEVER_BEGAN;
		current->before_hold();
		due = ticks() + distance;
		CLOCK_APIC->settimer(CLOCK_APIC, distance);
		current->hold();
		usleep(PAUSE_US);
		current->after_hold();
	}
	return unused;
}

static void *measure_lengths(void *unused)
{
	current->length = alone(current->alone, current->after_hold);
	current->free = alone(current->ask, current->after_ask);
	return unused;
}

static void measure(struct section *section)
{
	current = section;
	TEAM_RUN({ HIGH, measure_lengths });
	places = (section->length + MARGIN_NS) / STEP_NS;
	TEAM_RUN({ HIGH, high }, { LOW, low });
}

static void tell(const struct section *section)
{
	char name[32];

	snprintf(name, sizeof(name), "%sklt", section->prefix);
	series_tell(&section->klt, name, "ns");
	line_say("figure %s_pdlt_max %llu ns", name, section->pdlt.most);
	line_say("figure %s_answer_max %llu ns", name, section->answer.most);
	line_say("figure %s_section %llu ns", name, section->length);
	line_say("figure %s_free %llu ns", name, section->free);
	snprintf(name, sizeof(name), "%sklt_at", section->prefix);
	points_tell(&section->klt_at, name, "ns us");
	snprintf(name, sizeof(name), "%spdlt_at", section->prefix);
	points_tell(&section->pdlt_at, name, "ns us");
}

static void *tell_all(void *unused)
{
	tell(&sections[0]);
	tell(&sections[1]);
	shared->is_over = 1;
	sem_post(partner_begin);
	pillion_unload();
	return unused;
}

static mqd_t queue(const char *name)
{
	struct mq_attr attributes = { .mq_maxmsg = 2, .mq_msgsize = MESSAGE };

	return mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
}

int init_module(void)
{
	pthread_mutexattr_t inherits;
	int error;

	pthread_mutexattr_init(&inherits);
	pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &inherits);
	sem_init(&arrived, 1, 0);
	shared = mbuff_alloc(SHARED, sizeof(*shared));
	partner_begin = sem_open(PARTNER_BEGIN, O_CREAT, 0600, 0);
	low_queue = queue(LOW_QUEUE);
	high_queue = queue(HIGH_QUEUE);
	if (!shared || partner_begin == SEM_FAILED || low_queue == (mqd_t)-1 || high_queue == (mqd_t)-1)
		return -ENOMEM;
	error = rtl_setclockhandler(CLOCK_APIC, handle);
	if (error)
		return error;
	measure(&sections[0]);
	measure(&sections[1]);
	return thread_start(&teller, HIGH, tell_all, NULL);
}

void cleanup_module(void)
{
	pthread_join(teller, NULL);
	rtl_unsetclockhandler(CLOCK_APIC);
	sem_close(partner_begin);
	mq_unlink(LOW_QUEUE);
	mq_unlink(HIGH_QUEUE);
	mbuff_free(SHARED, shared);
}
