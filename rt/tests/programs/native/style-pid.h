/* common to pid.c and pidmon.c */
typedef struct {
	double kp, ki, kd;
	double setpoint, y, u, integ, olderr;
	unsigned long loops;
	int running;
	char msg[20];
} pid_state_t;
#define SHM_NAME "pidstate"
#define CFIFO 3
#define CFIFO_DEV "/dev/rtf3"
#define LOOP_NS (1000*1000)
