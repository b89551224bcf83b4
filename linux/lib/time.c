// SPDX-License-Identifier: GPL-2.0-only
/* The time that tasks see. */
#include <libpillion.h>
#include <rtlinux_signal.h>

hrtime_t gethrtime(void)
{
	static struct pillion_view *view;
	struct pillion_view *none = NULL, *mine;

	if (!__atomic_load_n(&view, __ATOMIC_ACQUIRE)) {
		mine = pillion_view_open();
		if (!mine)
			return -1;
		if (!__atomic_compare_exchange_n(&view, &none, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			pillion_view_close(mine);
	}
	return pillion_time(__atomic_load_n(&view, __ATOMIC_ACQUIRE));
}
