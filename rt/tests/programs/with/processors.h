/* Threads on processors of their own, and what a processor says of itself. */
#include <pthread.h>

/* What the processor itself says. */
static unsigned int apic_id(void)
{
	unsigned int a = 1, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return b >> 24;
}

static char stacks[40][16384] __attribute__((aligned(16)));
static int stacks_used;

static int start_on(pthread_t *thread, int cpu, int priority, void *(*f)(void *), void *arg)
{
	struct sched_param param = { .sched_priority = priority };
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setschedparam(&attr, &param);
	pthread_attr_setcpu_np(&attr, cpu);
	pthread_attr_setstackaddr(&attr, stacks[stacks_used++]);
	pthread_attr_setstacksize(&attr, sizeof(stacks[0]));
	return pthread_create(thread, &attr, f, arg);
}
