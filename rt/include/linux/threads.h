/* Processors. Their numbers are those of the machine; all threads of a task run on one of them. */
#ifndef LINUX_THREADS_H
#define LINUX_THREADS_H

#ifdef __cplusplus
extern "C" {
#endif

unsigned int rtl_getcpuid(void);
#ifndef NR_CPUS
#define NR_CPUS 8
#endif
#define smp_processor_id() rtl_getcpuid()
#define smp_num_cpus 1

#ifdef __cplusplus
}
#endif
#endif
