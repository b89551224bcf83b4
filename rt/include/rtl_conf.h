/* The configuration of this RTLinux. */
#ifndef RTL_CONF_H
#define RTL_CONF_H

#define CONFIG_RTLINUX 1
#define CONFIG_RTL 1
#define CONFIG_RTL_POSIX_IO 1
#define CONFIG_RTL_FP_SUPPORT 1
#define CONFIG_RTL_USE_V1_API 1
#define CONFIG_RTL_CLOCK_GPOS 1
#define CONFIG_RTL_PRIO_PROTECT 1
#define CONFIG_RTL_DEVMEM 1
#define CONFIG_RTL_TRACER 1
#define CONFIG_OC_PTIMERS 1
#define CONFIG_OC_PSIGNALS 1
#define CONFIG_OC_PBARRIERS 1
#define CONFIG_MODULES 1
#define CONFIG_X86 1
#define CONFIG_X86_TSC 1
#define CONFIG_X86_IO_APIC 1
#define CONFIG_X86_LOCAL_APIC 1

#ifndef __RTL__
#define __RTL__
#endif

#endif
