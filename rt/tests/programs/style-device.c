/*
 * In the style of the time: a device of the program's own, floating point, and shared memory.
 *
 * prints: text 0.3
 */
#include <rtl.h>
#include <rtl_posixio.h>
#include <rtl_sched.h>
#include <mbuff.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>
#include <pillion.h>
#define MAJOR 99
static int my_open(struct rtl_file *f) { if (f->f_minor > 1) return -ENODEV; MOD_INC_USE_COUNT; return 0; }
static int my_release(struct rtl_file *f) { MOD_DEC_USE_COUNT; return 0; }
static ssize_t my_read(struct rtl_file *f, char *b, size_t n, loff_t *pos) { memset(b, 'a', n); f->f_pos += n; return n; }
static ssize_t my_write(struct rtl_file *f, const char *b, size_t n, loff_t *pos) { return n; }
static int my_ioctl(struct rtl_file *f, unsigned int r, unsigned long l) { return r == 3 ? 0 : -EINVAL; }
static struct rtl_file_operations fops = { NULL, my_read, my_write, my_ioctl, NULL, NULL, my_open, my_release };
struct shared { volatile int cmd; double gain; char text[32]; } *shm;
static pthread_t th;
void *code(void *a)
{
	int fd; char buf[10]; float x = 0.1;
	fd = open("/dev/lpt0", O_NONBLOCK | O_RDWR);
	read(fd, buf, 10); write(fd, buf, 10); ioctl(fd, 3, 5); lseek(fd, 0, SEEK_SET);
	x *= shm->gain;
	sprintf(shm->text, "%d.%d", (int)x, (int)(x * 10));
	close(fd);
	pillion_unload();
	pthread_exit(0);
}
int init_module(void)
{
	shm = (struct shared *) mbuff_alloc("mine", sizeof(struct shared));
	if (shm == NULL) { printk("mbuff_alloc failed\n"); return -ENOMEM; }
	if (rtl_register_rtldev(MAJOR, "lpt", &fops)) { printk("unable to get RTLinux major %d\n", MAJOR); return -EIO; }
	mlockall(MCL_CURRENT|MCL_FUTURE);
	shm->gain = 3.5;
	return pthread_create(&th, NULL, code, NULL);
}
void cleanup_module(void) { pthread_join(th, NULL); rtl_printf("text %s\n", shm->text); rtl_unregister_rtldev(MAJOR, "lpt"); mbuff_free("mine", (void *)shm); }
