/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_REBOOT_H
#define LINUX_REBOOT_H
#endif
