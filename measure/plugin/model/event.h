/* Instructions and events that cost more than a plain instruction. */
#ifndef MODEL_EVENT_H
#define MODEL_EVENT_H

#include <stddef.h>
#include <stdint.h>

enum event {
	EVENT_NONE,
	EVENT_INTERRUPT, /* delivery of an interrupt to the kernel */
	EVENT_IRET,
	EVENT_SYSCALL,
	EVENT_SYSRET,
	EVENT_CR3, /* load of CR3 */
	EVENT_CR4, /* load of CR4: drops global translations too */
	EVENT_INVLPG,
	EVENT_MSR, /* RDMSR, WRMSR */
	EVENT_PORT,
	EVENT_CPUID,
	EVENT_FPU, /* XSAVE and XRSTOR in all their kinds */
	EVENT_VMRUN,
	EVENT_VMEXIT,
	EVENT_VMSTATE, /* VMLOAD, VMSAVE */
	/* These cost nothing extra; they show when interrupts are possible. */
	EVENT_CLI,
	EVENT_STI,
	EVENT_CLGI,
	EVENT_STGI,
	EVENT_HLT,
	/* Markers of measuring programs. */
	EVENT_RESPONSE,
	EVENT_FROM,
	EVENT_UPTO,
	EVENT_BEGIN,
	EVENT_DONE,
	EVENT_WOKE,
	/* A number is passed bit by bit, the highest first; its meaning follows. */
	EVENT_ZERO,
	EVENT_ONE,
	EVENT_ENTRY,
	EVENT_LATE,
	EVENTS
};

/* Names of the events that may have a cost; NULL for the others. */
extern const char *const event_names[EVENTS];

/* The event of an instruction, given its bytes in 64-bit mode. */
enum event event_of(const uint8_t *bytes, size_t size);

#endif
