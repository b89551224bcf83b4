/* Nothing of it is for tasks and processes; sources that only include it compile. */
#ifndef LINUX_WRAPPER_H
#define LINUX_WRAPPER_H
#endif
