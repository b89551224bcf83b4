/*
 * Reads and writes known amounts of memory between markers. tools/x/src/test/sweep.rs has the
 * counts that the model must give, in the order of the calls here. After `Done`, nothing is
 * counted.
 */
#include <linux/module.h>
#include <rtl.h>
#include <pillion.h>

#define MARK(name) __asm__ volatile(".byte 0x0f, 0x1f, 0x80\n\t.ascii \"" name "\"" : : : "memory")
#define LINE 64
#define MOST (320 * 1024)

/* Eight pages' page-table entries share a line: the memory is aligned to such a line. */
static char memory[MOST] __attribute__((aligned(32768)));

/*
 * Three passes: the third one finds the data and the code in the caches that the first two left, as
 * the code is the same each time. A call between the markers would use the stack, which is memory
 * as well.
 */
static __attribute__((noipa)) void measure(unsigned long bytes, int write)
{
	unsigned long i;
	int pass;

	for (pass = 0; pass < 3; pass++) {
		MARK("From");
		if (write)
			for (i = 0; i < bytes; i += LINE)
				*(volatile char *)&memory[i] = 1;
		else
			for (i = 0; i < bytes; i += LINE)
				(void)*(volatile char *)&memory[i];
		MARK("Upto");
	}
}

int init_module(void)
{
	measure(28 * 1024, 0);
	measure(36 * 1024, 0);
	measure(192 * 1024, 0);
	measure(320 * 1024, 0);
	measure(28 * 1024, 1);
	measure(36 * 1024, 1);
	measure(320 * 1024, 1);
	MARK("Done");
	measure(36 * 1024, 1);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
