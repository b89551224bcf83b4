/*
 * Reads and writes known amounts of memory between markers. What the model has to count is in
 * tools/x/src/test/sweep.rs: the numbers there follow the order here. Behind `Done` it counts
 * nothing more.
 */
#include <linux/module.h>
#include <rtl.h>
#include <pillion.h>

#define MARK(name) __asm__ volatile(".byte 0x0f, 0x1f, 0x80\n\t.ascii \"" name "\"" : : : "memory")
#define LINE 64
#define MOST (320 * 1024)

/* The page-table entries of eight pages share a line: those of this memory begin with one. */
static char memory[MOST] __attribute__((aligned(32768)));

/*
 * Three passes, of which the third finds what the first two left: of the caches' data, and of the
 * code, for it is the same each time. A call between the markers would use the stack, which is
 * memory as well.
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
