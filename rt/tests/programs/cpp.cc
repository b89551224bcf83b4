/*
 * A module in C++: constructors before init_module, destructors after cleanup_module, new and
 * delete, templates and virtual functions.
 *
 * prints: constructed 7
 * prints: area 12 of a square? no: 3 by 4
 * prints: placed 5, array 30
 * prints: in a thread 9
 * prints: cleanup
 * prints: destroyed 7
 */
#include <new>
#include <rtl.h>
#include <pthread.h>
#include <pillion.h>

class Noisy {
public:
	explicit Noisy(int number) : number(number) { rtl_printf("constructed %d\n", number); }
	~Noisy() { rtl_printf("destroyed %d\n", number); }

private:
	int number;
};

static Noisy noisy(7);

struct Shape {
	virtual ~Shape() {}
	virtual int area() const = 0;
};

struct Rectangle : Shape {
	Rectangle(int a, int b) : a(a), b(b) {}
	int area() const { return a * b; }
	int a, b;
};

template <typename T> static T sum(const T *values, int count)
{
	T total = T();

	for (int i = 0; i < count; i++)
		total += values[i];
	return total;
}

static void *run(void *)
{
	int *value = new int(9);

	rtl_printf("in a thread %d\n", *value);
	delete value;
	pillion_unload();
	return 0;
}

extern "C" int init_module(void)
{
	pthread_t thread;
	Rectangle *rectangle = new Rectangle(3, 4);
	Shape *shape = rectangle;
	int place, *values = new int[3];

	rtl_printf("area %d of a square? no: %d by %d\n", shape->area(), rectangle->a, rectangle->b);
	delete shape;
	for (int i = 0; i < 3; i++)
		values[i] = 5 * (i + 1);
	rtl_printf("placed %d, array %d\n", *new (&place) int(5), sum(values, 3));
	delete[] values;
	return pthread_create(&thread, 0, run, 0);
}

extern "C" void cleanup_module(void)
{
	rtl_printf("cleanup\n");
}
