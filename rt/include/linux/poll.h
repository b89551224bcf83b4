/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_POLL_H
#define LINUX_POLL_H
#endif
