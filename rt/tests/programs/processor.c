/*
 * A task on another processor than the first: its number, and no other, is there for threads, lines
 * and reservations.
 *
 * run: --cpus 4
 * task: cpu = 2
 * prints: on 2, exists 0 0 1 0, of 1
 * prints: processor 0 is not this task's: name it in cpus of this task in the system file
 * prints: processor 3 is not this task's: name it in cpus of this task in the system file
 * prints: attributes: 2, set 0 22 22 22, then 2
 * prints: lines: 0 -1, were 4; reserved 0 -22 -22
 * prints: clocks: 0 1
 * prints: a thread runs on 2, by its processor 1
 */
#include <rtl.h>
#include <rtl_core.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pthread.h>
#include <pillion.h>
#include <linux/threads.h>

static int counts[NR_CPUS];
static unsigned int first_apic_id;

/* What the processor itself says. */
static unsigned int apic_id(void)
{
	unsigned int a = 1, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return b >> 24;
}

static void *run(void *unused)
{
	counts[smp_processor_id()]++;
	rtl_printf("a thread runs on %d, by its processor %d\n", rtl_getcpuid(),
		counts[2] == 1 && apic_id() == first_apic_id && apic_id() != 0);
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	unsigned long here = 4, elsewhere = 3, old = 0;
	pthread_attr_t attr;
	pthread_t thread;
	int cpu, now, a, b;

	rtl_printf("on %d, exists %d %d %d %d, of %d\n", rtl_getcpuid(), rtl_cpu_exists(0), rtl_cpu_exists(1),
		rtl_cpu_exists(2), rtl_cpu_exists(3), rtl_num_cpus());
	pthread_attr_init(&attr);
	pthread_attr_getcpu_np(&attr, &cpu);
	a = pthread_attr_setcpu_np(&attr, 2);
	b = pthread_attr_setcpu_np(&attr, 0);
	rtl_printf("attributes: %d, set %d %d %d %d, ", cpu, a, b, pthread_attr_setcpu_np(&attr, 3),
		pthread_attr_setcpu_np(&attr, -1));
	pthread_attr_getcpu_np(&attr, &now);
	rtl_printf("then %d\n", now);
	a = rtl_irq_set_affinity(7, &here, &old);
	b = rtl_irq_set_affinity(7, &elsewhere, NULL);
	rtl_printf("lines: %d %d, were %lu; reserved %d %d %d\n", a, b, old, rtl_reserve_cpus(4), rtl_reserve_cpus(1),
		rtl_reserve_cpus(6));
	rtl_printf("clocks: %d %d\n", rtl_getbestclock(0) != NULL, rtl_getbestclock(2) != NULL);
	first_apic_id = apic_id();
	return pthread_create(&thread, &attr, run, NULL);
}

void cleanup_module(void)
{
}
