/*
 * MODULE_PARM: numbers of each width, arrays, text; a parameter that is not given keeps its value.
 *
 * parameters: period=250 big=-5000000000 gains=1,2,0x10 name=motor flag=1 label="a b" spelled=7
 * prints: period 250 big -5000000000 flag 1 spelled 7 other 42
 * prints: gains 1 2 16 -4
 * prints: name motor label a b
 */
#include <rtl.h>
#include <pillion.h>

static int period = 1;
static long big;
static int gains[4] = { -1, -2, -3, -4 };
static char *name = "none";
static char flag;
static char label[8] = "none";
static int other = 42;
static int spelled;

MODULE_PARM(period, "i");
MODULE_PARM_DESC(period, "in microseconds");
MODULE_PARM(big, "l");
MODULE_PARM(gains, "1-4i");
MODULE_PARM(name, "s");
MODULE_PARM(flag, "b");
MODULE_PARM(label, "c8");
MODULE_PARM(other, "i");
module_param(spelled, int, 0);
MODULE_LICENSE("GPL");

int init_module(void)
{
	rtl_printf("period %d big %ld flag %d spelled %d other %d\n", period, big, flag, spelled, other);
	rtl_printf("gains %d %d %d %d\n", gains[0], gains[1], gains[2], gains[3]);
	rtl_printf("name %s label %s\n", name, label);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
