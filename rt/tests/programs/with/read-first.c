/* reads what ../style-first.c puts, in the style of the time */
#include <stdio.h>
#include <errno.h>
#include <sys/time.h>
#include <sys/types.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <linux/rtf.h>
#include <linux/rt_sched.h>
#include <asm/rt_time.h>
#include <asm/io.h>
#include <asm/system.h>
int main()
{
	int fd0, fd1, fd2, i, x, n = 0;
	char buf[100], line[100];
	RTIME sum = 0;
	if ((fd0 = open("/dev/rtf0", O_RDONLY)) < 0) { fprintf(stderr, "Error opening /dev/rtf0\n"); exit(1); }
	if ((fd1 = open("/dev/rtf1", O_RDONLY)) < 0) { fprintf(stderr, "Error opening /dev/rtf1\n"); exit(1); }
	if ((fd2 = open("/dev/rtf2", O_WRONLY)) < 0) { fprintf(stderr, "Error opening /dev/rtf2\n"); exit(1); }
	for (i = 0; i < 102; i++) {
		if (read(fd0, &x, sizeof(int)) != sizeof(int)) { printf("short\n"); exit(1); }
		if (i < 2) continue;
		sum += x; n++;
	}
	i = read(fd1, buf, 17);
	buf[i] = 0;
	sprintf(line, "%d ticks, %s", (int)((sum + n / 2) / n), buf);
	puts(line);
	return write(fd2, line, strlen(line)) != strlen(line);
}
