/*
 * Floating-point state belongs to a thread, in x87 and SSE registers alike, with its rounding
 * direction. A slow thread and a fast one that preempts it compute as the host does, each with its
 * own direction, while the main thread and a thread of another task (with/fpu-beside.c) leave other
 * values in the registers.
 *
 * native: -lm
 * with: fpu-beside
 * prints: slow as on the host, fast as on the host
 * prints: preempted often: 1, by the other task: 1
 */
#include <fenv.h>

enum { SLOW = 100000, TURNS = 200, TURN = 40 };

struct state {
	long double x;
	double y;
	float z;
};

/* Keeps three numbers in registers, each on a chaotic course: the last bit matters. */
static void iterate(struct state *state, int count)
{
	long double x = state->x;
	double y = state->y;
	float z = state->z;

	while (count--) {
		x = 3.97L * x * (1 - x);
		y = 3.95 * y * (1 - y);
		z = 3.93f * z * (1 - z);
	}
	state->x = x;
	state->y = y;
	state->z = z;
}

static const struct state begin = { 0.3L, 0.4, 0.5f };

#ifdef NATIVE
#include <stdio.h>

static void show(const char *name, int direction, int turns, int count)
{
	struct state state = begin;

	fesetround(direction);
	while (turns--)
		iterate(&state, count);
	printf("static const struct state %s = { %LaL, %a, %af };\n", name, state.x, state.y, state.z);
}

int main(void)
{
	show("slow_right", FE_TONEAREST, 1, SLOW);
	show("fast_right", FE_UPWARD, TURNS, TURN);
	return 0;
}
#else
#include <rtl.h>
#include <rtl_printf.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pthread.h>
#include <mbuff.h>
#include <pillion.h>
#include "fpu.native"
#include "start.h"

static struct state slow = { 0.3L, 0.4, 0.5f }, fast = { 0.3L, 0.4, 0.5f };
static volatile int turn, began, ended;
static volatile int *others;

static int same(const struct state *a, const struct state *b)
{
	return a->x == b->x && a->y == b->y && a->z == b->z;
}

static void *run_fast(void *unused)
{
	fesetround(FE_UPWARD);
	while (!*others)
		usleep(100);
	pthread_make_periodic_np(pthread_self(), gethrtime() + 120000, 7000);
	while (turn < TURNS) {
		pthread_wait_np();
		iterate(&fast, TURN);
		turn++;
	}
	return unused;
}

static void *run_slow(void *unused)
{
	int first;

	/* Both tasks start at boot, in any order. */
	while (!*others)
		usleep(100);
	first = *others;
	began = turn;
	iterate(&slow, SLOW);
	ended = turn;
	while (turn < TURNS)
		usleep(100);
	rtl_printf("slow %s, fast %s\n", same(&slow, &slow_right) ? "as on the host" : "wrong", same(&fast, &fast_right) ? "as on the host" : "wrong");
	rtl_printf("preempted often: %d, by the other task: %d\n", ended - began > TURNS / 4, *others - first > TURNS / 4);
	others[1] = 1;
	pillion_unload();
	return unused;
}

int init_module(void)
{
	pthread_t thread;

	others = mbuff_alloc("fpu", 4096);
	if (!others)
		return -ENOMEM;
	fesetround(FE_DOWNWARD);
	start(&thread, 20, run_fast, NULL);
	start(&thread, 10, run_slow, NULL);
	return 0;
}

void cleanup_module(void)
{
	mbuff_free("fpu", (void *)others);
}
#endif
