/* How long computations take beside Linux, each after a pause in which Linux fills the caches. */
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

#include "../../include/measure.h"
#include "kernels.h"

#define PAUSE_US 1000

static int seconds = 10;
MODULE_PARM(seconds, "i");

static pthread_t thread;

/* Only the multiplication has markers: the model's results for `work` are about it. */
static void marked_multiply(void)
{
	MARK_BEGIN();
	multiply();
	MARK_END();
}

static struct kernel {
	const char *name;
	void (*run)(void);
	struct histogram took;
} kernels[] = {
	{ .name = "matrix", .run = marked_multiply },
	{ .name = "fft", .run = transform },
	{ .name = "sort", .run = sort },
	{ .name = "walk", .run = walk },
};

#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static void measure(struct kernel *kernel)
{
	hrtime_t from;

	usleep(PAUSE_US);
	from = gethrtime();
	kernel->run();
	histogram_add(&kernel->took, gethrtime() - from);
}

static void *work(void *unused)
{
	hrtime_t end = gethrtime() + seconds * 1000000000LL;
	unsigned int i;

	measure_begin();
	while (gethrtime() < end)
		for (i = 0; i < KERNELS; i++)
			measure(&kernels[i]);
	measure_done();
	for (i = 0; i < KERNELS; i++)
		histogram_tell(&kernels[i].took, kernels[i].name, "ns");
	pillion_unload();
	return unused;
}

int init_module(void)
{
	prepare_kernels();
	return thread_start(&thread, 100, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
}
