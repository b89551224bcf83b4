/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_NOTIFIER_H
#define LINUX_NOTIFIER_H
#endif
