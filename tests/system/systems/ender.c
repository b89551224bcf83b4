/* Ends the system after half a second, with success. Part of skin-hangs.toml. */
#include <pthread.h>
#include <linux/module.h>
#include <rtl.h>
#include <unistd.h>
#include <pillion.h>

static pthread_t thread;

static void *ends(void *arg)
{
	usleep(500000);
	pillion_end_system(0);
	return NULL;
}

int init_module(void)
{
	return pthread_create(&thread, NULL, ends, NULL);
}

void cleanup_module(void)
{
}
