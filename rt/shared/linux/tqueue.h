/* Nothing of it is for tasks and processes; sources that only include it compile. */
#ifndef LINUX_TQUEUE_H
#define LINUX_TQUEUE_H
#endif
