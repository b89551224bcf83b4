/*
 * Shared buffers: found by name, zeroed when created, in whole pages, not for real-time threads.
 *
 * prints: made 1, zeroed 1
 * prints: the same 1, larger 1, no size 1, name too long 1
 * prints: still there x
 * prints: made anew and zeroed 0
 * prints: in a thread 1
 */
#include <rtl.h>
#include <mbuff.h>
#include <pthread.h>
#include <pillion.h>

static void *run(void *unused)
{
	rtl_printf("in a thread %d\n", mbuff_alloc("test", 100) == NULL);
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	pthread_t thread;
	char *memory = mbuff_alloc("test", 5000), *same, *larger, *none, *named;
	int i, sum = 0;

	for (i = 0; memory && i < 8192; i++)
		sum |= memory[i];
	rtl_printf("made %d, zeroed %d\n", memory != NULL, sum == 0);
	same = mbuff_alloc("test", 100);
	larger = mbuff_alloc("test", 8193);
	none = mbuff_alloc("other", 0);
	named = mbuff_alloc("a name with more than 32 characters", 1);
	rtl_printf("the same %d, larger %d, no size %d, name too long %d\n", same == memory, larger == NULL, none == NULL, named == NULL);
	memory[8191] = 'x';
	mbuff_free("test", memory);
	rtl_printf("still there %c\n", same[8191]);
	mbuff_free("test", same);
	memory = mbuff_alloc("test", 8192);
	rtl_printf("made anew and zeroed %d\n", memory[8191]);
	return pthread_create(&thread, NULL, run, NULL);
}

void cleanup_module(void)
{
	mbuff_free("test", NULL);
}
