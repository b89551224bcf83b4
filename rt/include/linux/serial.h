/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_SERIAL_H
#define LINUX_SERIAL_H
#endif
