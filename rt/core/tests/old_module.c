/* A module in the style of Linux 2.4 that uses what fits of the headers. It is only compiled. */
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/version.h>
#include <linux/errno.h>
#include <linux/config.h>
#include <linux/init.h>
#include <linux/types.h>
#include <linux/string.h>
#include <linux/malloc.h>
#include <linux/delay.h>
#include <linux/ioport.h>
#include <linux/sched.h>
#include <linux/interrupt.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <asm/io.h>
#include <asm/system.h>
#include <asm/uaccess.h>
#include <asm/bitops.h>
#include <asm/atomic.h>
#include <asm/rt_irq.h>
#include <asm/rt_time.h>
#include <rtl.h>
#include <rtl_fifo.h>
#include <rtl_sched.h>
#include <rtl_debug.h>
#include <rtl_posixio.h>
#include <rtl_tracer.h>
#include <time.h>
#include <pthread.h>
#include <semaphore.h>
#include <mqueue.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <mbuff.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <ctype.h>
#include <assert.h>

MODULE_AUTHOR("x"); MODULE_DESCRIPTION("y");
#ifdef MODULE_LICENSE
MODULE_LICENSE("GPL");
#endif
EXPORT_NO_SYMBOLS;
static int period = 5, arr[4]; static char *name = "n"; long big;
MODULE_PARM(period, "i"); MODULE_PARM_DESC(period, "the period");
MODULE_PARM(arr, "1-4i"); MODULE_PARM(name, "s"); MODULE_PARM(big, "l");
static spinlock_t lock = SPIN_LOCK_UNLOCKED;
static atomic_t a = ATOMIC_INIT(0);
struct el { struct list_head l; int v; };
LIST_HEAD(head);
struct el *e;
static pthread_t t;
static RT_TASK old;
void oldtask(int arg) { while (1) { rt_task_wait(); do_every(3) conpr("x"); } }
int ioctl_h(unsigned int n, unsigned int c, unsigned long arg) { int v; if (copy_from_user(&v, (void*)arg, 4)) return -EFAULT; put_user(v+1, (int *)arg); return 0; }
static int handler(unsigned int n) { char b[8]; rtf_get(n, b, sizeof(b)); return 0; }
void *f(void *p)
{
	struct sched_param q; unsigned long flags; double d = 1.5; char buf[80]; struct list_head *pos;
	q.sched_priority = 1;
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &q);
	pthread_make_periodic_np(pthread_self(), gethrtime(), 500000);
	while (1) {
		pthread_wait_np();
		rtl_printf("I'm here; my arg is %x\n", (unsigned) (unsigned long) p);
		save_flags(flags); cli(); restore_flags(flags);
		rtl_no_interrupts(flags); rtl_restore_interrupts(flags);
		spin_lock_irqsave(&lock, flags); spin_unlock_irqrestore(&lock, flags);
		d = sin(d); sprintf(buf, "%f", d); rtl_printf("%s", buf);
		list_for_each(pos, &head) { e = list_entry(pos, struct el, l); }
		set_bit(1, &flags); if (test_bit(2, &flags)) atomic_inc(&a);
		do_first(3) { rtl_printf("first\n"); }
		outb(1, 0x378); outb_p(inb(0x379), 0x70); udelay(5);
		printk(KERN_INFO "jiffies %lu HZ %d\n", jiffies, HZ);
		if (rtf_put(0, buf, sizeof(buf)) < 0) breakpoint();
		period = min(period, 3) + max(1, 2);
	}
	return 0;
}
int init_module(void)
{
	int fd; void *m; struct utsname u;
	if (check_region(0x378, 3)) return -EBUSY;
	request_region(0x378, 3, "lp");
	m = kmalloc(10, GFP_KERNEL); memset(m, 0, 10); kfree(m); m = vmalloc(5000); vfree(m);
	rtf_destroy(0); rtf_create(0, 4000); rtf_create_handler(0, &handler); rtf_link_user_ioctl(0, ioctl_h);
	fd = open("/dev/rtf0", O_RDWR | O_NONBLOCK); write(fd, "abc", 3); ioctl(fd, RTF_SETSIZE, 8000); close(fd);
	mlockall(MCL_CURRENT); uname(&u); assert(fd >= 0);
	current->state = TASK_INTERRUPTIBLE; schedule_timeout(HZ / 2);
	rt_task_init(&old, oldtask, 1, 3000, 4); rt_task_make_periodic(&old, rt_get_time(), RT_TICKS_PER_SEC / 100);
	MOD_INC_USE_COUNT;
	name = mbuff_alloc("demo", 4096); rtl_trace2(RTL_TRACE_USER, 1);
	{ struct mq_attr at; mqd_t q; at.mq_maxmsg = 3; at.mq_msgsize = 10; q = mq_open("/q", O_RDWR|O_CREAT, 0600, &at); mq_send(q, "a", 1, 0); }
	printf("%s %d\n", name, isdigit(*name)); perror("x"); fprintf(stderr, "e%d", 1); sscanf("12", "%d", &period); qsort(arr, 4, 4, (void*)handler); strtod("1.5", 0); puts("z");
	{ sem_t s, *n = sem_open("/n", O_CREAT, 0600, 1); sem_init(&s, 0, 0); sem_post(n); }
	return pthread_create(&t, NULL, f, 0);
}
void cleanup_module(void) { pthread_delete_np(t); rt_task_delete(&old); rtf_destroy(0); mbuff_free("demo", name); release_region(0x378, 3); rtl_trace_dump(); rtl_global_pend_irq(3); }
