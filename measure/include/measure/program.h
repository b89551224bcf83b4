/* A program that measures in one thread. It ends when that has reported its results, or earlier. */
#ifndef MEASURE_PROGRAM_H
#define MEASURE_PROGRAM_H

#include <linux/module.h>
#include <pillion.h>

#include "thread.h"

#define MEASURE_PROGRAM(priority, measure) \
	static pthread_t measure_thread; \
	static void *measure_and_end(void *unused) \
	{ \
		measure(); \
		pillion_unload(); \
		return unused; \
	} \
	int init_module(void) \
	{ \
		return thread_start(&measure_thread, priority, measure_and_end, NULL); \
	} \
	void cleanup_module(void) \
	{ \
		pthread_delete_np(measure_thread); \
	}

#endif
