/* Nothing of it is for tasks and processes; sources that only include it compile. */
#ifndef LINUX_KMOD_H
#define LINUX_KMOD_H
#endif
