/* The Linux version that these headers resemble. */
#ifndef LINUX_VERSION_H
#define LINUX_VERSION_H

#define KERNEL_VERSION(major, minor, patch) (((major) << 16) + ((minor) << 8) + (patch))
#define LINUX_VERSION_CODE KERNEL_VERSION(2, 4, 20)
#define UTS_RELEASE "2.4.20-rtl3.2"

#endif
