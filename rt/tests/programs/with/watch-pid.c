/* watches ../style-pid.c, in the style of the time */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>
#include <fcntl.h>
#include <rtl.h>
#include <mbuff.h>
#include "../native/style-pid.h"

volatile pid_state_t *st;
int cfd;
void quit(int sig) { write(cfd, "stop\n", 5); mbuff_free(SHM_NAME, (void*)st); exit(0); }

void main(void)
{
	char *cmds[] = { "kp 5\n", "ki 20\n", "kd 0.0\n", "bla 3\n", "set 2.5\ngo\n", NULL };
	char line[60];
	int i;
	signal(SIGINT, quit);
	if (!(st = (volatile pid_state_t *) mbuff_alloc(SHM_NAME, sizeof(pid_state_t)))) { puts("mbuff_alloc failed"); exit(2); }
	if ((cfd = open(CFIFO_DEV, O_WRONLY)) < 0) { perror(CFIFO_DEV); exit(1); }
	for (i = 0; cmds[i]; i++) write(cfd, cmds[i], strlen(cmds[i]));
	for (i = 0; i < 40 && fabs(st->y - st->setpoint) > 0.001; i++) usleep(100000);
	if (strcmp((char *) st->msg, "what? bla") || st->loops < 100) { printf("%s, %ld loops\n", st->msg, st->loops); exit(1); }
	sprintf(line, "say %.2f of %.1f\n", st->y, st->setpoint);
	printf("%s", line + 4);
	write(cfd, "stop\n", 5);
	write(cfd, line, strlen(line));
	close(cfd);
	mbuff_free(SHM_NAME, (void*)st);
	exit(0);
}
