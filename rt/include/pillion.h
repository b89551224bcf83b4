/*
 * What Pillion has and RTLinux has not.
 */
#ifndef PILLION_H
#define PILLION_H

#include <rtl_time.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Has the program's own cleanup_module run and the program end, as `pillion unload` does in Linux.
 * Returns at once; for all contexts.
 */
void pillion_unload(void);

/*
 * Starts a Linux that is off ([linux] after_poweroff, after_crash, after_limit in the system file),
 * for a task with may_start_linux. 0, or -1 with errno: EBUSY while Linux runs, ENODEV where there
 * is none, EIO when its monitor has faulted, EPERM for other tasks. Returns before Linux runs; for
 * threads.
 */
int pillion_start_linux(void);

/*
 * Ends the system, for a task with may_end_system: all tasks, none of which has its cleanup_module
 * run, and Linux, which is not asked; then the machine switches itself off. The run's status is
 * `ok` where status is 0 and nothing else went wrong, else `failed`. Does not return; for other
 * tasks -1 with errno EPERM. For threads.
 */
int pillion_end_system(int status);

/*
 * When the kernel was last entered by the timer or by a device of the real-time side, on the scale
 * of gethrtime(): asked at once by a thread that waited for it, the time at which its way to that
 * thread began. 0 unless the kernel traces (`./x run --kernel-append trace=1`), which makes that
 * way longer, by some 30 instructions for each event. For all contexts.
 */
hrtime_t pillion_kernel_entry(void);

#ifdef __cplusplus
}
#endif

#endif
