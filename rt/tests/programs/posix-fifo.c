/*
 * FIFOs as files: open needs O_NONBLOCK; with O_CREAT it creates a FIFO, which close destroys.
 *
 * prints: blocking -1 errno 13
 * prints: missing -1 errno 49
 * prints: no such device -1 errno 2
 * prints: made 1
 * prints: write 5, read 3: hel
 * prints: waiting 2
 * prints: size 0, capacity 64
 * prints: too much -1 errno 28
 * prints: seek -1 errno 29
 * prints: other control -1 errno 22
 * prints: closed 0, again -1 errno 9, there 0
 * prints: mem -1 errno 13
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <pillion.h>

int init_module(void)
{
	char text[128] = "";
	int file, result, waiting;

	result = open("/dev/rtf7", O_RDWR);
	rtl_printf("blocking %d errno %d\n", result, errno);
	result = open("/dev/rtf7", O_RDWR | O_NONBLOCK);
	rtl_printf("missing %d errno %d\n", result, errno);
	result = open("/dev/nothing0", O_RDWR);
	rtl_printf("no such device %d errno %d\n", result, errno);
	file = open("/dev/rtf7", O_RDWR | O_NONBLOCK | O_CREAT);
	rtl_printf("made %d\n", file >= 0);
	result = write(file, "hello", 5);
	rtl_printf("write %d, ", result);
	result = read(file, text, 3);
	rtl_printf("read %d: %.3s\n", result, text);
	ioctl(file, FIONREAD, &waiting);
	rtl_printf("waiting %d\n", waiting);
	result = ioctl(file, RTF_SETSIZE, 64);
	rtl_printf("size %d, capacity %d\n", result, RTF_BUF(7));
	result = write(file, text, 65);
	rtl_printf("too much %d errno %d\n", result, errno);
	result = lseek(file, 0, SEEK_SET);
	rtl_printf("seek %d errno %d\n", result, errno);
	result = ioctl(file, 99, 0);
	rtl_printf("other control %d errno %d\n", result, errno);
	result = close(file);
	rtl_printf("closed %d, ", result);
	result = close(file);
	rtl_printf("again %d errno %d, there %d\n", result, errno, rtf_isused(7));
	result = open("/dev/mem", O_RDWR);
	rtl_printf("mem %d errno %d\n", result, errno);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
