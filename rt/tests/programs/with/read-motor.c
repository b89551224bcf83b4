/*
 * In Linux: starts the loop of ../motor.c, reads its log from /dev/rtf0 and compares it with
 * /root/motor.native, which the same loop printed on the host.
 *
 * The host's C library may round a sine differently from the task's. The loop is stable, so such a
 * difference stays small: values may differ by one part in 10^12 of full scale.
 */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../native/motor.h"

#define TOLERANCE 1e-12

static int differs(double is, double right, double scale)
{
	return !(fabs(is - right) <= TOLERANCE * scale);
}

static const char *compare(const struct record *is, FILE *native)
{
	struct record right;

	if (fscanf(native, "%lld %la %la %la %la", &right.step, &right.wanted, &right.measured, &right.filtered, &right.volts) != 5)
		return "the host has no such step";
	if (is->step != right.step)
		return "a step is missing";
	if (differs(is->wanted, right.wanted, 200))
		return "the reference differs";
	if (differs(is->measured, right.measured, 200))
		return "the motor differs";
	if (differs(is->filtered, right.filtered, 200))
		return "the filter differs";
	return differs(is->volts, right.volts, 24) ? "the controller differs" : NULL;
}

/* Reads and compares the log; returns the verdict. */
static int read_log(int log, FILE *native, char *verdict, size_t size)
{
	struct record is;
	double off = 0;
	int i;

	for (i = 0; i < STEPS; i++) {
		const char *wrong;

		if (pillion_fifo_read(log, &is, sizeof(is)) < 0) {
			snprintf(verdict, size, "reading step %d: %s", i, strerror(errno));
			return 1;
		}
		wrong = compare(&is, native);
		if (wrong) {
			snprintf(verdict, size, "step %d: %s: %a %a %a %a", i, wrong, is.wanted, is.measured, is.filtered, is.volts);
			return 1;
		}
		/* In the second half the speed has settled. */
		if (i >= STEPS / 2)
			off = fmax(off, fabs(is.wanted - is.filtered));
	}
	snprintf(verdict, size, "%d steps read, all as on the host, speed %s", i, off < 30 ? "follows" : "does not follow");
	return off >= 30;
}

int main(void)
{
	char verdict[190];
	FILE *native = fopen("/root/motor.native", "r");
	int log = pillion_fifo_open(0, O_RDONLY), answer = pillion_fifo_open(1, O_WRONLY), failed;

	if (!native || log < 0 || answer < 0) {
		perror(native ? "/dev/rtf" : "/root/motor.native");
		return 1;
	}
	if (pillion_fifo_write(answer, "start", 5) < 0) {
		perror("start");
		return 1;
	}
	failed = read_log(log, native, verdict, sizeof(verdict));
	puts(verdict);
	return pillion_fifo_write(answer, verdict, strlen(verdict)) < 0 || failed;
}
