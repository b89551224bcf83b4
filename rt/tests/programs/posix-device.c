/*
 * A device of the program's own, used by open, read, write, lseek, ioctl, mmap and close.
 *
 * prints: register 0, again -16, null -22
 * prints: open of 2: 1
 * prints: refused: -1 errno 19
 * prints: write 4 at 0, position 4
 * prints: seek 1, read 3: bcd
 * prints: control 5 of 6 gives 11
 * prints: mapped abcd
 * prints: unmapped 0, another -1 errno 22
 * prints: release of 2
 * prints: unregister 0, again -22, open -1 errno 2
 */
#include <rtl.h>
#include <rtl_posixio.h>
#include <unistd.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <pillion.h>

static char store[8];

static int device_open(struct rtl_file *file)
{
	return RTL_MINOR_FROM_FILEPTR(file) == 2 ? 0 : -ENODEV;
}

static int device_release(struct rtl_file *file)
{
	rtl_printf("release of %u\n", file->f_minor);
	return 0;
}

static ssize_t device_write(struct rtl_file *file, const char *from, size_t count, off_t *position)
{
	rtl_printf("write %d at %d, ", (int)count, (int)*position);
	memcpy(store + *position, from, count);
	*position += count;
	rtl_printf("position %d\n", (int)file->f_pos);
	return count;
}

static ssize_t device_read(struct rtl_file *file, char *to, size_t count, off_t *position)
{
	memcpy(to, store + *position, count);
	return count;
}

static off_t device_seek(struct rtl_file *file, off_t offset, int whence)
{
	return file->f_pos = offset;
}

static int device_ioctl(struct rtl_file *file, unsigned int command, unsigned long argument)
{
	return command + argument;
}

static int device_mmap(struct rtl_file *file, void *start, size_t length, int protection, int flags, off_t offset, char **result)
{
	*result = store;
	return 0;
}

static int device_munmap(struct rtl_file *file, void *start, size_t length)
{
	return start == store ? 0 : -EINVAL;
}

static struct rtl_file_operations operations = {
	llseek: device_seek,
	read: device_read,
	write: device_write,
	ioctl: device_ioctl,
	mmap: device_mmap,
	munmap: device_munmap,
	open: device_open,
	release: device_release,
};

int init_module(void)
{
	char text[4] = "";
	int file, result, again = rtl_register_rtldev(10, "store", &operations);
	void *map;

	result = rtl_register_rtldev(10, "store", &operations);
	rtl_printf("register %d, again %d, null %d\n", again, result, rtl_register_rtldev(11, "other", NULL));
	file = open("/dev/store2", O_RDWR);
	rtl_printf("open of 2: %d\n", file >= 0);
	result = open("/dev/store3", O_RDWR);
	rtl_printf("refused: %d errno %d\n", result, errno);
	write(file, "abcd", 4);
	result = lseek(file, 1, SEEK_SET);
	rtl_printf("seek %d, ", result);
	result = read(file, text, 3);
	rtl_printf("read %d: %.3s\n", result, text);
	rtl_printf("control 5 of 6 gives %d\n", ioctl(file, 5, 6));
	map = mmap(NULL, 4, PROT_READ, MAP_SHARED, file, 0);
	rtl_printf("mapped %.4s\n", (char *)map);
	result = munmap(map, 4);
	rtl_printf("unmapped %d, ", result);
	result = munmap(text, 4);
	rtl_printf("another %d errno %d\n", result, errno);
	close(file);
	result = rtl_unregister_rtldev(10, "store");
	again = rtl_unregister_rtldev(10, "store");
	rtl_printf("unregister %d, again %d, ", result, again);
	result = open("/dev/store2", O_RDWR);
	rtl_printf("open %d errno %d\n", result, errno);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
