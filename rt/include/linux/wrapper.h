/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_WRAPPER_H
#define LINUX_WRAPPER_H
#endif
