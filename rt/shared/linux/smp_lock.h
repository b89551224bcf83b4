/* Nothing of it is for tasks and processes; sources that only include it compile. */
#ifndef LINUX_SMP_LOCK_H
#define LINUX_SMP_LOCK_H
#endif
