/*
 * A parameter's declaration may precede its variable, as Linux 2.4 allowed.
 *
 * parameters: early=7 letters=3,4 text=given
 * prints: early 7 late 2 letters 3 4 text given size 2
 */
#include <rtl.h>
#include <pillion.h>

MODULE_PARM(early, "i");
MODULE_PARM_DESC(early, "comes before its variable");
MODULE_PARM(letters, "1-2h");
MODULE_PARM(text, "s");

static int early = 1;
static short letters[2];
static int late = 2;
static char *text = "own";

MODULE_PARM(late, "i");

int init_module(void)
{
	rtl_printf("early %d late %d letters %d %d text %s size %d\n", early, late, letters[0], letters[1], text, (int)sizeof(letters[0]));
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
