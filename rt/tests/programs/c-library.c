/*
 * Sorting, tables, random numbers, dates, jumps, the floating-point environment: the C library
 * returns what the host's does.
 *
 * native: -lm
 * prints: C library: 1408 lines, 0 differ
 * task: memory_kib = 1024
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WHAT "C library"
#define LINES_FILE "c-library.native"
#include "native/lines.h"

#ifdef NATIVE
/* The compiler's own is a constant. */
#undef FLT_ROUNDS
#define FLT_ROUNDS (fegetround() == FE_TOWARDZERO ? 0 : fegetround() == FE_TONEAREST ? 1 : fegetround() == FE_UPWARD ? 2 : 3)
#endif

static volatile double zero;

static int by_value(const void *a, const void *b)
{
	int first = *(const int *)a, second = *(const int *)b;

	return (first > second) - (first < second);
}

static int backwards(const void *a, const void *b, void *count)
{
	++*(int *)count;
	return by_value(b, a);
}

static void sorting(void)
{
	static int array[500];
	unsigned long long seed = 3;
	unsigned int size, i;
	size_t count;

	for (size = 0; size < sizeof(array) / sizeof(array[0]); size += 1 + size / 3) {
		unsigned int sum = 0;
		int key, *found, compared = 0;

		for (i = 0; i < size; i++)
			array[i] = (int)(draw(&seed) % (size * 2));
		qsort(array, size, sizeof(int), by_value);
		for (i = 0; i < size; i++)
			sum = sum * 31 + (unsigned int)array[i];
		key = (int)size;
		found = bsearch(&key, array, size, sizeof(int), by_value);
		SAY("sorted %u: %08x, found %d", size, sum, found ? *found : -1);
		qsort_r(array, size, sizeof(int), backwards, &compared);
		SAY("%d %d", size ? array[0] : 0, size < 2 || compared > 0);
		count = size;
		key = size ? array[size / 2] : 0;
		found = lfind(&key, array, &count, sizeof(int), by_value);
		SAY("%d %zu", found ? *found : -1, count);
	}
}

/* Elements of any size, many of them equal. */
static void random_sorting(void)
{
	static unsigned char array[4000], key[40];
	unsigned long long seed = 11;
	unsigned int turn, i;

	for (turn = 1; turn <= 200; turn++) {
		size_t size = 4 + draw(&seed) % 30, count = draw(&seed) % 100, before;
		int compared = 0;
		unsigned char *found;

		for (i = 0; i < count * size; i++)
			array[i] = i % size < 4 ? (i % size ? 0 : draw(&seed) % 50) : array[i - i % size];
		memset(key, 0, sizeof(key));
		key[0] = draw(&seed) % 50;
		before = count;
		found = lsearch(key, array, &count, size, by_value);
		mix(AT(found, array)), mix(before), mix(count);
		mix(AT((unsigned char *)lfind(key, array, &count, size, by_value), array));
		qsort_r(array, count, size, backwards, &compared);
		mix_bytes(array, count * size);
		qsort(array, count, size, by_value);
		mix_bytes(array, count * size);
		found = bsearch(key, array, count, size, by_value);
		mix(found ? found[0] : -1);
		if (turn % 10 == 0)
			say_digest("sorting", turn);
	}
}

static unsigned int visited, gone;

static void visit(const void *node, VISIT visit, int depth)
{
	(void)depth;
	if (visit == postorder || visit == leaf)
		visited = visited * 31 + **(const int *const *)node;
}

static void forget(void *key)
{
	gone += *(int *)key;
}

static void trees(void)
{
	static int values[200];
	unsigned long long seed = 12;
	unsigned int turn, i, there = 0;
	void *root = NULL;

	for (i = 0; i < 200; i++)
		values[i] = (int)i;
	SAY("%d %d", tfind(&values[3], &root, by_value) != NULL, tdelete(&values[3], &root, by_value) != NULL);
	for (turn = 1; turn <= 4000; turn++) {
		int *value = &values[draw(&seed) % 200], **found = tfind(value, &root, by_value);

		mix(found ? **found : -1);
		if (draw(&seed) % 3 && (turn / 1000) % 2 == 0) {
			mix(**(int **)tsearch(value, &root, by_value));
			there += !found;
		} else {
			mix(tdelete(value, &root, by_value) != NULL);
			there -= !!found;
		}
		if (turn % 100 == 0) {
			visited = 0;
			twalk(root, visit);
			mix(visited);
			SAY("tree of %u: %08x", there, visited);
			say_digest("tree", turn);
		}
	}
	tsearch(&values[7], &root, by_value);
	tsearch(&values[9], &root, by_value);
	visited = 0, twalk(root, visit);
	tdestroy(root, forget);
	SAY("%u %u", visited, gone);
}

static void tables(void)
{
	static char keys[100][8];
	struct hsearch_data own;
	unsigned long long seed = 13;
	unsigned int turn;
	ENTRY *found;

	memset(&own, 0, sizeof(own));
	SAY("%d %d", !!hcreate(150), !!hcreate_r(150, &own));
	for (turn = 1; turn <= 1000; turn++) {
		unsigned int number = draw(&seed) % 100;
		ENTRY entry = { keys[number], (void *)(unsigned long)turn };
		ACTION action = draw(&seed) % 4 ? FIND : ENTER;

		snprintf(keys[number], 8, "k%u", number * 7);
		errno = 0;
		found = hsearch(entry, action);
		mix(found ? (unsigned long)found->data : 0), mix(found ? 0 : errno == ESRCH || errno == 0);
		found = (ENTRY *)&seed;
		mix(!!hsearch_r(entry, action == FIND ? ENTER : FIND, &found, &own)), mix(found ? (unsigned long)found->data : 0);
		if (turn % 50 == 0)
			say_digest("table", turn);
	}
	hdestroy();
	hdestroy_r(&own);
	SAY("%d", !!hcreate(0));
	hdestroy();
}

struct link {
	struct link *next, *last;
	int value;
};

static void queues(void)
{
	static struct link links[30];
	unsigned long long seed = 14;
	unsigned int turn, i;
	struct link *at;

	insque(&links[0], NULL);
	SAY("%d %d", links[0].next != NULL, links[0].last != NULL);
	for (turn = 1; turn <= 500; turn++) {
		i = 1 + draw(&seed) % 29;
		links[i].value = (int)i;
		if (links[i].last) {
			remque(&links[i]);
			links[i].last = NULL;
		} else {
			unsigned int behind = draw(&seed) % 30;

			insque(&links[i], links[behind].last ? &links[behind] : &links[0]);
		}
		for (at = &links[0]; at; at = at->next)
			mix(at->value), mix(at->last ? at->last->value : -1);
		if (turn % 50 == 0)
			say_digest("queue", turn);
	}
}

static void whole_numbers(void)
{
	static const long long edges[] = { 0, 1, -1, 7, -7, 2147483647, -2147483647, 4611686018427387904LL, 9223372036854775807LL, -9223372036854775807LL };
	unsigned long long seed = 15;
	unsigned int i, j;

	for (i = 0; i < 40; i++)
		for (j = 0; j < 10; j++) {
			long long a = i < 10 ? edges[i] : (long long)(draw(&seed) << 24 ^ draw(&seed)) >> draw(&seed) % 60, b = i < 10 ? edges[j] : (long long)draw(&seed) >> draw(&seed) % 39;
			int c = (int)a, d = (int)b;
			div_t narrow = div(c, d && (c != (int)0x80000000 || d != -1) ? d : 3);
			ldiv_t of_longs = ldiv(a, b ? b : 3);
			lldiv_t wide = lldiv(a, b ? b : 3);
			imaxdiv_t widest = imaxdiv(a, b ? b : 3);

			SAY("%d %ld %lld %jd", abs(c == (int)0x80000000 ? 0 : c), labs(a), llabs(a), (imaxabs)(a));
			SAY("%d %d %ld %ld %lld %lld %jd %jd", narrow.quot, narrow.rem, of_longs.quot, of_longs.rem, wide.quot, wide.rem, widest.quot, widest.rem);
		}
}

static void dates(void)
{
	static const long long times[] = { 0, 1, -1, 951782400, 951868800, 1078012800, 1709164800, 2147483647, 2147483648LL, -2147483649LL, 4102444799LL, 253402300799LL, -62135596800LL, 86399, 86400 };
	unsigned int i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		time_t at = (time_t)times[i];
		struct tm tm, again;
		char text[40];

		memset(&tm, 0, sizeof(tm));
		gmtime_r(&at, &tm);
		again = tm;
		again.tm_mon += 14;
		again.tm_mday -= 40;
		again.tm_sec += 100000;
		SAY("%d-%d-%d %d:%d:%d %d %d %lld", tm.tm_year, tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, tm.tm_wday, tm.tm_yday, (long long)timegm(&tm));
		SAY("%lld %s %a", (long long)timegm(&again), asctime_r(gmtime(&at), text), difftime(at, 5));
		SAY("%s", asctime(&tm));
	}
}

static void random_dates(void)
{
	unsigned long long seed = 16;
	unsigned int turn;

	for (turn = 1; turn <= 1000; turn++) {
		/* To the year 9999, which has four digits. */
		time_t at = (time_t)(draw(&seed) % 315537897600ULL) - 62135596800LL, other = (time_t)draw(&seed), back;
		struct tm tm, same = *gmtime(&at);
		char text[40];

		gmtime_r(&at, &tm);
		mix(tm.tm_year), mix(tm.tm_mon), mix(tm.tm_mday), mix(tm.tm_hour), mix(tm.tm_min), mix(tm.tm_sec), mix(tm.tm_wday), mix(tm.tm_yday), mix(tm.tm_isdst);
		mix(same.tm_yday), mix_bytes(asctime(&tm), 25), mix_bytes(asctime_r(&same, text), 25);
		tm.tm_sec += (int)(draw(&seed) % 1000000) - 500000, tm.tm_min -= (int)(draw(&seed) % 5000), tm.tm_hour += (int)(draw(&seed) % 1000) - 500;
		tm.tm_mday += (int)(draw(&seed) % 1000) - 500, tm.tm_mon += (int)(draw(&seed) % 100) - 50, tm.tm_isdst = 1;
		back = timegm(&tm);
		mix(back), mix(tm.tm_year), mix(tm.tm_mon), mix(tm.tm_mday), mix(tm.tm_hour), mix(tm.tm_min), mix(tm.tm_sec), mix(tm.tm_wday), mix(tm.tm_yday), mix(tm.tm_isdst);
		mix((long long)difftime(back, other));
		if (turn % 50 == 0)
			say_digest("dates", turn);
	}
}

static jmp_buf place;
static volatile unsigned int depth;

static void __attribute__((noinline)) deeper(unsigned int more, int value, int plain)
{
	volatile char room[32];

	room[more % 32] = (char)more;
	depth++;
	if (more)
		deeper(more - 1, value, plain);
	else if (plain)
		_longjmp(place, value);
	else
		longjmp(place, value);
	depth += room[more % 32];
}

static void jumps(void)
{
	static const int values[] = { 0, 1, -1, 2147483647, -2147483647 - 1, 0x10000 };
	volatile unsigned int i;
	volatile double kept;
	volatile int turn = 0, came;

	came = (setjmp)(place);
	SAY("%d %d", came, turn);
	if (turn++ < 3)
		longjmp(place, turn == 2 ? 0 : turn);
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		depth = 0, kept = i + 0.5;
		came = (setjmp)(place);
		if (depth == 0)
			deeper(i * 3, values[i], 0);
		SAY("jump of %u: %d %g", depth, came, kept);
		depth = 0;
		came = (_setjmp)(place);
		if (depth == 0)
			deeper(i * 3, values[i], 1);
		SAY("jump of %u: %d %g", depth, came, kept);
	}
}

static void random_numbers(void)
{
	unsigned short own[3] = { 1, 2, 3 }, seed[3] = { 65535, 0, 7 }, *old, parameters[7] = { 1, 2, 3, 0xe66d, 0xdeec, 5, 11 };
	unsigned int state = 6, again = 6, bad = 0;
	int i;

	for (i = 0; i < 300; i++) {
		if (i % 50 == 0)
			srand48(i * 12345678L);
		if (i % 50 == 10) {
			old = seed48(seed);
			SAY("%u %u %u", old[0], old[1], old[2]);
		}
		if (i % 50 == 20)
			lcong48(parameters);
		SAY("%.17g %ld %ld %.17g %ld %ld", drand48(), lrand48(), mrand48(), erand48(own), nrand48(own), jrand48(own));
	}
	/*
	 * Which numbers these return is the library's choice: the same ones for the same seed,
	 * within bounds, and not all alike.
	 */
	for (i = 0; i < 1000; i++) {
		int one, two;

		srand(i), one = rand(), two = rand(), srand(i);
		bad += one != rand() || two != rand() || one == two || one < 0 || two < 0;
		one = rand_r(&state), two = rand_r(&again);
		bad += one != two || state != again || one < 0 || one > RAND_MAX;
	}
	SAY("%u random numbers are bad", bad);
}

static void floating_point_environment(void)
{
	fenv_t all;
	fexcept_t flags;
	volatile double one = 1, result;
	int held, left;

	feclearexcept(FE_ALL_EXCEPT);
	result = one / zero;
	SAY("%a %d %d", result, !!fetestexcept(FE_DIVBYZERO), !!fetestexcept(FE_INVALID));
	held = feholdexcept(&all);
	left = fetestexcept(FE_ALL_EXCEPT);
	feraiseexcept(FE_OVERFLOW);
	feupdateenv(&all);
	SAY("%d %d %d %d", held, left, !!fetestexcept(FE_OVERFLOW), !!fetestexcept(FE_DIVBYZERO));
	fegetexceptflag(&flags, FE_OVERFLOW);
	feclearexcept(FE_ALL_EXCEPT);
	fesetexceptflag(&flags, FE_OVERFLOW);
	SAY("%d %d", !!fetestexcept(FE_OVERFLOW), !!fetestexcept(FE_DIVBYZERO));
	fegetenv(&all);
	fesetround(FE_UPWARD);
	result = one / 3;
	fesetenv(&all);
	SAY("%a %a %d", result, one / 3, fegetround() == FE_TONEAREST);
	fesetenv(FE_DFL_ENV);
	SAY("%d", fetestexcept(FE_ALL_EXCEPT));
}


/* Any exceptions and rounding directions, in any order. */
static void random_environments(void)
{
	static const int directions[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, 0x1234 };
	unsigned long long seed = 17;
	unsigned int turn;
	fenv_t all;
	fexcept_t flags;

	fegetenv(&all);
	fegetexceptflag(&flags, FE_ALL_EXCEPT);
	for (turn = 1; turn <= 1000; turn++) {
		int some = (int)(draw(&seed) % 64) & FE_ALL_EXCEPT;

		switch (draw(&seed) % 9) {
		case 0: mix(feclearexcept(some)); break;
		case 1: mix(feraiseexcept(some & (FE_INVALID | FE_DIVBYZERO))); break;
		case 2: mix(fegetexceptflag(&flags, FE_ALL_EXCEPT)); break;
		case 3: mix(fesetexceptflag(&flags, some)); break;
		case 4: mix(fegetenv(&all)); break;
		case 5: mix(fesetenv(draw(&seed) % 2 ? &all : FE_DFL_ENV)); break;
		case 6: mix(feholdexcept(&all)); break;
		case 7: mix(feupdateenv(&all)); break;
		default: mix(!!fesetround(directions[draw(&seed) % 5]));
		}
		mix(fetestexcept(FE_ALL_EXCEPT)), mix(fegetround()), mix(FLT_ROUNDS);
		if (turn % 50 == 0)
			say_digest("environments", turn);
	}
	fesetenv(FE_DFL_ENV);
}

static void calls(void)
{
	sorting();
	random_sorting();
	trees();
	tables();
	queues();
	whole_numbers();
	dates();
	random_dates();
	jumps();
	random_numbers();
	floating_point_environment();
	random_environments();
}
