/*
 * The tracer: events of the classes in the mask, with names, and the end of a buffer, which FIFO 14
 * reports.
 *
 * prints: init 0, bad event -22
 * prints: ... thread 0 event 32 step data 0x2a at 0x0
 * prints: ... thread 0 event 34  data 0x3 at 0x1000
 * prints: buffer 0 complete, 4 bytes
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <rtl_tracer.h>
#include <pillion.h>

int init_module(void)
{
	int buffer = -1, result = rtl_trace_init(), count;

	rtl_printf("init %d, bad event %d\n", result, rtl_trace_seteventclass(64, 1));
	rtf_create(14, 64);
	rtl_trace_seteventname(RTL_TRACE_USER, "step");
	rtl_trace_seteventclass(RTL_TRACE_USER + 1, RTL_TRACE_CLASS4);
	rtl_trace_settracemask(RTL_TRACE_CLASS1);
	rtl_trace2(RTL_TRACE_USER, 42);
	rtl_trace2(RTL_TRACE_USER + 1, 43);
	rtl_trace(RTL_TRACE_USER + 2, 3, (void *)0x1000);
	rtl_trace_dump();
	rtl_trace2(RTL_TRACE_FINALIZE, 0);
	count = rtf_get(14, &buffer, sizeof(buffer));
	rtl_printf("buffer %d complete, %d bytes\n", buffer, count);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
	rtl_trace_destroy();
	rtf_destroy(14);
}
