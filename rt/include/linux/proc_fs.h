/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_PROC_FS_H
#define LINUX_PROC_FS_H
#endif
