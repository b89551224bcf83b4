/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_TTY_H
#define LINUX_TTY_H
#endif
