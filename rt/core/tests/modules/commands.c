/* squares on the parallel port, FIFO command handler */
#include <rtl.h>
#include <time.h>
#include <rtl_sched.h>
#include <rtl_fifo.h>
#include <asm/io.h>
#define START_TASK 1
#define STOP_TASK 2
struct my_msg_struct { int command; int task; int period; };

pthread_t tasks[2];
static char *data[] = {"Frank ", "Zappa "};
clockid_t clock;
int count, index;

void *thread_code(void *t)
{
	int fifo = (int) t;
	int taskno = fifo - 1;
	struct my_msg_struct msg;
	while (1) {
		int ret;
		int err;
		ret = pthread_wait_np();
		if ((err = rtf_get (taskno + 4, &msg, sizeof(msg))) == sizeof(msg)) {
			rtl_printf("Task %d: executing the \"%d\" command to task %d; period %d\n", fifo - 1, msg.command, msg.task, msg.period);
			switch (msg.command) {
				case START_TASK:
					pthread_make_periodic_np(pthread_self(), gethrtime(), msg.period * 1000);
					break;
				case STOP_TASK:
					pthread_suspend_np(pthread_self());
					break;
				default:
					rtl_printf("RTLinux task: bad command\n");
					return 0;
			}
		}
		rtf_put(fifo, data[fifo - 1], 6);
	}
	return 0;
}

int my_handler(unsigned int fifo)
{
	struct my_msg_struct msg;
	int err;

	while ((err = rtf_get(0, &msg, sizeof(msg))) == sizeof(msg)) {
		rtf_put(msg.task + 4, &msg, sizeof(msg));
		pthread_wakeup_np(tasks[msg.task]);
	}
	if (err != 0)
		return -EINVAL;
	return 0;
}

int init_module(void)
{
	int c[5], i;
	pthread_attr_t attr;
	struct sched_param sched_param;
	int ret;

	for (i = 0; i < 5; i++) {
		rtf_destroy(i + 1);
		c[i] = rtf_create(i + 1, 4000);
	}
	rtf_destroy(0);
	rtf_create(0, 100);
	clock = rtl_getschedclock();
	pthread_attr_init(&attr);
	sched_param.sched_priority = 4;
	pthread_attr_setschedparam(&attr, &sched_param);
	ret = pthread_create(&tasks[0], &attr, thread_code, (void *)1);
	pthread_attr_init(&attr);
	sched_param.sched_priority = 5;
	pthread_attr_setschedparam(&attr, &sched_param);
	ret = pthread_create(&tasks[1], &attr, thread_code, (void *)2);
	rtf_create_handler(0, &my_handler);
	return 0;
}

void cleanup_module(void)
{
	int i;
	for (i = 0; i < 6; i++) {
		printk("Removing module on CPU %d\n", rtl_getcpuid());
		rtf_destroy(i);
	}
	pthread_cancel(tasks[0]);
	pthread_join(tasks[0], NULL);
	pthread_delete_np(tasks[1]);
}
