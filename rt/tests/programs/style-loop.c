/*
 * In the style of the time: a controller with floating point, whose variables are called `time`,
 * `select`, `sleep`, `signal`, `random` and `current`.
 *
 * prints: time 100 ms, near 1, kept 800
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_fifo.h>
#include <math.h>
#include <pillion.h>
#define PI 3.14159265
double setpoint, output, error, round_off, gain = 2.0;
float current, time, select, sleep, signal, random;
int abs_max, max_out = 3;
static pthread_t control_thread; 
struct pid { double kp, ki, kd, sum, last; } ctl = { kp: 1.0, ki: 0.1, kd: 0.01 };
static double limit(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }
void * control(void *arg)
{
	struct sched_param p;
	p . sched_priority = 1;
	pthread_setschedparam (pthread_self(), SCHED_FIFO, &p);
	pthread_make_periodic_np (pthread_self(), gethrtime(), 1000000);
	while (1) {
		pthread_wait_np ();
		time += 0.001;
		setpoint = sin(2 * PI * time) * fabs(gain) + sqrt(pow(2, 3));
		error = setpoint - current;
		ctl.sum += error; output = limit(ctl.kp * error + ctl.ki * ctl.sum + ctl.kd * (error - ctl.last), -10, 10);
		ctl.last = error; current += output * 0.01;
		rtf_put(2, &output, sizeof output);
		if (++max_out == 103)
			pillion_unload();
	}
	return 0;
}
int init_module(void) {
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setfp_np(&attr, 1);
	pthread_attr_setstacksize(&attr, 65536);
	rtf_create(2, 8192);
	return pthread_create (&control_thread, &attr, control, 0);
}
void cleanup_module(void) { pthread_delete_np (control_thread); rtl_printf("time %d ms, near %d, kept %d\n", (int)(time * 1000 + 0.5), fabs(error) < 5, RTF_LEN(2)); rtf_destroy(2); }
