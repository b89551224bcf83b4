/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_CONSOLE_H
#define LINUX_CONSOLE_H
#endif
