/*
 * A direct-current motor whose speed follows a sine: the motor, a low-pass filter for its measured
 * speed, and a PI controller. A step is 100 us. The same code runs in the real-time task and
 * natively.
 */
#include <math.h>

#define STEP 1e-4		/* s */
#define STEPS 3000
#define PI 3.14159265358979323846

/* The log entry of a step. */
struct record {
	long long step;
	double wanted;		/* rad/s */
	double measured;
	double filtered;
	double volts;
};

struct motor {
	double current;		/* A */
	double speed;		/* rad/s */
	double angle;		/* rad */
};

struct control {
	double filtered;	/* rad/s */
	double sum;		/* V: the integral part */
};

/*
 * A motor of 24 V: resistance, inductance, torque and voltage constant, inertia, friction. Euler's
 * method.
 */
static void turn(struct motor *motor, double volts, double load)
{
	const double ohms = 0.6, henry = 0.8e-3, constant = 0.05, inertia = 2e-5, friction = 1e-5;
	double torque = constant * motor->current - friction * motor->speed - load;

	motor->current += STEP / henry * (volts - ohms * motor->current - constant * motor->speed);
	motor->speed += STEP / inertia * torque;
	motor->angle = fmod(motor->angle + STEP * motor->speed, 2 * PI);
}

/* The speed as measured by a tachometer with a ripple of eight poles. */
static double measure(const struct motor *motor)
{
	return motor->speed * (1 + 0.01 * cos(8 * motor->angle));
}

static double filter(struct control *control, double measured)
{
	const double corner = 400;	/* Hz */

	control->filtered += (1 - exp(-2 * PI * corner * STEP)) * (measured - control->filtered);
	return control->filtered;
}

/* The sum is frozen while the amplifier is at its limit. */
static double control_step(struct control *control, double error)
{
	const double gain = 0.2, integral = 30, limit = 24;
	double sum = control->sum + integral * STEP * error, volts = gain * error + sum;

	if (fabs(volts) > limit)
		return copysign(limit, volts);
	control->sum = sum;
	return volts;
}

/* One step of the loop. */
static struct record step(long long number, struct motor *motor, struct control *control)
{
	struct record record = { number, 0, 0, 0, 0 };
	double time = (double)number * STEP;

	record.wanted = 200 * sin(2 * PI * 10 * time);
	record.measured = measure(motor);
	record.filtered = filter(control, record.measured);
	record.volts = control_step(control, record.wanted - record.filtered);
	turn(motor, record.volts, 0.02 * tanh(motor->speed / 5));
	return record;
}
