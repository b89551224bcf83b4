/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_TQUEUE_H
#define LINUX_TQUEUE_H
#endif
