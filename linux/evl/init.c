// SPDX-License-Identifier: GPL-2.0-only
#include <evl/evl.h>
#include <pthread.h>

#include "primary/call.h"
#include "primary/print.h"

/* The two ends of a real-time thread's text: the ring, and the thread that writes it out. */
static void begin(void)
{
	primary_begin("libevl");
	primary_print_begin();
}

int evl_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	return -pthread_once(&once, begin);
}

struct evl_version evl_get_version(void)
{
	return (struct evl_version){ __EVL__, __EVL__, "Pillion's libevl" };
}
