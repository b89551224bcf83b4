/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_PARPORT_H
#define LINUX_PARPORT_H
#endif
