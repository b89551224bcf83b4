/* V1 API task */
#define MODULE
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/version.h>
#include <linux/errno.h>

#include <asm/segment.h>
#include <asm/types.h>
#include <asm/rt_time.h>
#include <asm/rt_irq.h>
#include <rtl_fifo.h>
#include <rtl_sched.h>
RT_TASK mytask; 
#define STACK_SIZE 3000
void fun(int t) { while(1) { rtf_put(t, "x", 1); rt_task_wait(); } }
int init_module(void)
{
	RTIME now = rt_get_time();
	rtf_create(0, 4000);
	rt_task_init(&mytask, fun, 0, STACK_SIZE, 4);
	rt_task_make_periodic(&mytask, now + 3000, RT_TICKS_PER_SEC / 1000);
	return 0;
}
void cleanup_module(void) { rt_task_delete(&mytask); rtf_destroy(0); }
