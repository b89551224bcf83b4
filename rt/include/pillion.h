/* Pillion's additions to RTLinux. */
#ifndef PILLION_H
#define PILLION_H

#include <rtl_time.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Has the program's own cleanup_module run and the program end, as `pillion unload` does in Linux.
 * Returns at once. Callable from all contexts.
 */
void pillion_unload(void);

/*
 * Starts a Linux that is off ([linux] after_poweroff, after_crash, after_limit in the system file).
 * Only for a task with may_start_linux. Returns before Linux runs: 0, or -1 with errno: EBUSY while
 * Linux runs, ENODEV if there is no Linux, EIO if its monitor has faulted, EPERM for other tasks.
 * Callable from threads.
 */
int pillion_start_linux(void);

/*
 * Ends the system. Only for a task with may_end_system. Ends all tasks without running their
 * cleanup_module, and Linux without asking it; then the machine powers itself off. The run's status
 * is `ok` if `status` is 0 and nothing else went wrong, else `failed`. Does not return, except to
 * other tasks: -1 with errno EPERM. Callable from threads.
 */
int pillion_end_system(int status);

/*
 * Returns the time, on the scale of gethrtime(), at which an interrupt of the timer or of a device
 * of the real-time side last entered the kernel. A thread that asks as soon as such an interrupt
 * has woken it learns when the path from the interrupt to the thread began. Returns 0 unless the
 * kernel traces (`./x run --kernel-append trace=1`), which lengthens that path by some 30
 * instructions for each event, or if its latest 64 events have no such interrupt. Callable from all
 * contexts.
 */
hrtime_t pillion_kernel_entry(void);

#ifdef __cplusplus
}
#endif

#endif
