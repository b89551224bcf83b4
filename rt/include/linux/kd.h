/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_KD_H
#define LINUX_KD_H
#endif
