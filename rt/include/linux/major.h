/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_MAJOR_H
#define LINUX_MAJOR_H
#endif
