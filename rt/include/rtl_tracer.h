/* Records of timed events, in ring buffers in memory. */
#ifndef RTL_TRACER_H
#define RTL_TRACER_H

#include <rtl_conf.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RTL_TRACE_MAX_EVENTS 64
#define RTL_TRACE_MAX_NAME 32
#define RTL_TRACE_BUFFER_SIZE 500
#define RTL_TRACE_BUFFERS 20
#define RTL_TRACER_NAMELEN RTL_TRACE_MAX_NAME
#define RTL_TNRECORDS RTL_TRACE_BUFFER_SIZE
#define RTL_TNBUFFERS RTL_TRACE_BUFFERS
#define RTL_TRACER_FIFO 14
#define RTL_TRACER_SHMEM "tracer"

/* Events that the runtime and programs record. */
#define RTL_TRACE_INTERCEPT 1
#define RTL_TRACE_INTERCEPT_EXIT 2
#define RTL_TRACE_SCHED_IN 3
#define RTL_TRACE_SCHED_OUT 4
#define RTL_TRACE_CLI 5
#define RTL_TRACE_STI 6
#define RTL_TRACE_HARD_CLI RTL_TRACE_CLI
#define RTL_TRACE_HARD_STI RTL_TRACE_STI
#define RTL_TRACE_FINALIZE 15
#define RTL_TRACE_USER 32

#define RTL_TRACE_CLASS1 1
#define RTL_TRACE_CLASS2 2
#define RTL_TRACE_CLASS3 4
#define RTL_TRACE_CLASS4 8
#define RTL_TRACE_CLASS_DEFAULT RTL_TRACE_CLASS1
#define RTL_TRACE_CLASS_USER RTL_TRACE_CLASS2
#define RTL_TRACE_CLASS_SCHEDULER RTL_TRACE_CLASS3
#define RTL_TRACE_CLASS_INTERRUPTS RTL_TRACE_CLASS4

int rtl_trace_init(void);
void rtl_trace_destroy(void);
/*
 * Records an event with data and the address at which it happened. RTL_TRACE_FINALIZE ends the
 * buffer and sends its number to FIFO 14, if there is one.
 */
void rtl_trace(int event, unsigned long data, void *address);
void rtl_trace2(int event, unsigned long data);
void rtl_trace_dump(void);
/* Events of a class are recorded while the class's bit is in the mask. */
void rtl_trace_settracemask(unsigned long classes);
unsigned long rtl_trace_gettracemask(void);
int rtl_trace_seteventclass(int event, unsigned long class_mask);
int rtl_trace_seteventname(int event, const char *name);
#define rtl_trace_setname rtl_trace_seteventname

#ifdef __cplusplus
}
#endif

#endif
