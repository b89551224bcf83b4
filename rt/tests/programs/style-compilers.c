/*
 * In the style of the time: what GCC accepted before versions 3.3 and 4.0. String literals over
 * several lines, the function's name concatenated with a literal, a static function called before
 * its definition, functions with the names of Linux's macros, and a parameter before its variable.
 *
 * warns: implicit declaration of function 'later'
 * parameters: early=7
 * prints: init_module: early is 7, larger 9, smaller 7, later 4
 * prints: usage: insmod this
 * prints:   it's "nothing" // at all
 * prints: cleanup_module: gone
 */
#include <rtl.h>
#include <linux/kernel.h>
#include <pillion.h>

#define DPRINT(fmt, args...) printk(KERN_INFO __FUNCTION__ ": " fmt, ## args)

MODULE_PARM(early, "i");
int early = 3;

static inline int max(int a, int b) { return a > b ? a : b; }
int min(int a, int b) { return a < b ? a : b; }

int init_module(void)
{
	DPRINT("early is %d, larger %d, smaller %d, later %d\n", early, max(early, 9), min(early, 9), later(3));
	printk("usage: insmod this
  it's \"nothing\" // at all
");
	pillion_unload();
	return 0;
}

static int later(int x)
{
	return x + 1;
}

void cleanup_module(void)
{
	DPRINT("gone\n");
}
