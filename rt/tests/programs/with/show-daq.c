/* show-daq.c - display program for ../style-daq.c, in the style of the time */
#include <stdio.h>
#include <errno.h>
#include <sys/time.h>
#include <sys/types.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <linux/config.h>
#include <linux/time.h>
#include <asm/page.h>
#include <rtl_fifo.h>
#include "../native/style-daq.h"

static void usage()
{
	printf("show-daq: reads /dev/rtf0
	no arguments
");
}

main(argc, argv)
int argc;
char **argv;
{
	fd_set rfds;
	struct timeval tv;
	int retval, fd, cfd, n, i, got = 0, torn = 0, order = 0, rate = 0;
	struct sample buf[16], st, old;
	daq_cmd c;

	if (argc > 2) { usage(); exit(1); }
	if ((fd = open("/dev/rtf0", O_RDONLY)) < 0) {
		fprintf(stderr, "Error opening /dev/rtf%d: %s\n", DATA_FIFO, strerror(errno));
		exit(1);
	}
	if ((cfd = open("/dev/rtf1", O_RDWR)) < 0) { perror("/dev/rtf1"); exit(1); }
	c.what = DAQ_RATE; c.arg = 2000;
	write(cfd, &c, sizeof(c));
	c.what = DAQ_START;
	if (write(cfd, &c, sizeof(c)) != sizeof(c)) { perror("start"); exit(1); }
	c.what = 'X';
	if (write(cfd, &c, sizeof(c)) >= 0 || errno != EINVAL) { printf("bad command accepted: %m\n"); exit(1); }
	while (got < 200) {
		FD_ZERO(&rfds);
		FD_SET(fd, &rfds);
		tv.tv_sec = 2; tv.tv_usec = 0;
		retval = select(FD_SETSIZE, &rfds, NULL, NULL, &tv);
		if (retval <= 0 || !FD_ISSET(fd, &rfds)) { printf("timeout\n"); exit(1); }
		n = read(fd, buf, sizeof(buf));
		if (n % sizeof(struct sample)) torn++;
		n /= sizeof(struct sample);
		for (i = 0; i < n && got < 200; i++, got++) {
			if (got && buf[i].seq != old.seq + 1) order++;
			if (got && (buf[i].stamp - old.stamp < 1900000 || buf[i].stamp - old.stamp > 2100000)) rate++;
			old = buf[i];
		}
	}
	c.what = DAQ_STOP;
	write(cfd, &c, sizeof(c));
	if (ioctl(cfd, DAQ_GETSTAT, &st) < 0) { perror("ioctl"); exit(1); }
	if (st.seq < old.seq || st.flags) { printf("status of %ld behind %ld\n", st.seq, old.seq); exit(1); }
	c.what = DAQ_TEXT;
	sprintf(c.text, "%d samples, %d torn, %d out of order, %d of another rate", got, torn, order, rate);
	puts(c.text);
	write(cfd, &c, sizeof(c));
	return torn || order || rate;
}
