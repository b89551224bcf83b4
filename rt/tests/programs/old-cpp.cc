/*
 * C++ as it was usual for RTLinux compiles with warnings: pointers as numbers, one pointer for
 * another, numbers that do not fit.
 *
 * warns: loses precision
 * warns: invalid conversion from 'void*' to 'unsigned int*'
 * warns: narrowing conversion of '-1'
 * prints: low half the same: 1
 * prints: left 3, by another pointer 7, table 255
 * prints: cleanup
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_cpp.h>
#include <pillion.h>

class Motor {
public:
	Motor(char *n) : name(n), speed(0) {}
	virtual ~Motor() {}
	virtual int step(int by) { return speed += by; }
	char *name;
	int speed;
};

clockid_t clock;
static Motor *motor;
static unsigned char table[] = { 1, -1 };

int init_module(void)
{
	unsigned int number = 7;
	void *at = &number;
	unsigned int *other = at;

	motor = new Motor("left");
	rtl_printf("low half the same: %d\n", (unsigned)motor == (unsigned long)motor);
	rtl_printf("%s %d, by another pointer %u, table %d\n", motor->name, motor->step(3), *other, table[1]);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
	rtl_printf("cleanup\n");
	delete motor;
}
