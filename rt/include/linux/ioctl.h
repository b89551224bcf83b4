/* The layout of command numbers. */
#ifndef LINUX_IOCTL_H
#define LINUX_IOCTL_H

#define _IOC_NRBITS 8
#define _IOC_TYPEBITS 8
#define _IOC_SIZEBITS 14
#define _IOC_DIRBITS 2
#define _IOC_NRSHIFT 0
#define _IOC_TYPESHIFT 8
#define _IOC_SIZESHIFT 16
#define _IOC_DIRSHIFT 30
#define _IOC_NONE 0U
#define _IOC_WRITE 1U
#define _IOC_READ 2U

#define _IOC(direction, type, number, size)                                                                        \
	(((unsigned int)(direction) << _IOC_DIRSHIFT) | ((unsigned int)(type) << _IOC_TYPESHIFT) |                  \
	 ((unsigned int)(number) << _IOC_NRSHIFT) | ((unsigned int)(size) << _IOC_SIZESHIFT))
#define _IO(type, number) _IOC(_IOC_NONE, (type), (number), 0)
#define _IOR(type, number, data) _IOC(_IOC_READ, (type), (number), sizeof(data))
#define _IOW(type, number, data) _IOC(_IOC_WRITE, (type), (number), sizeof(data))
#define _IOWR(type, number, data) _IOC(_IOC_READ | _IOC_WRITE, (type), (number), sizeof(data))
#define _IOC_DIR(command) (((command) >> _IOC_DIRSHIFT) & 3)
#define _IOC_TYPE(command) (((command) >> _IOC_TYPESHIFT) & 0xff)
#define _IOC_NR(command) (((command) >> _IOC_NRSHIFT) & 0xff)
#define _IOC_SIZE(command) (((command) >> _IOC_SIZESHIFT) & 0x3fff)

#define FIONREAD 0x541b

#endif
