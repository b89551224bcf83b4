/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_CONS_H
#define LINUX_CONS_H
#endif
