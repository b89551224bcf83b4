// SPDX-License-Identifier: GPL-2.0-only
/* What programs call that start their libraries by themselves, by names of other skins. */
#include <copperplate/init.h>
#include <xenomai/init.h>

int copperplate_init(int *argcp, char *const **argvp)
{
	xenomai_init(argcp, argvp);
	return 0;
}

int alchemy_init(int *argcp, char *const **argvp)
{
	xenomai_init(argcp, argvp);
	return 0;
}
