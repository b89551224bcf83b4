/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_KMOD_H
#define LINUX_KMOD_H
#endif
