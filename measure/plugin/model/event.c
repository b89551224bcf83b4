#include "event.h"

#include <stdbool.h>
#include <string.h>

const char *const event_names[EVENTS] = {
	[EVENT_INTERRUPT] = "interrupt", [EVENT_IRET] = "iret",		[EVENT_SYSCALL] = "syscall",
	[EVENT_SYSRET] = "sysret",	 [EVENT_CR3] = "cr3",		[EVENT_CR4] = "cr4",
	[EVENT_INVLPG] = "invlpg",	 [EVENT_MSR] = "msr",		[EVENT_PORT] = "port",
	[EVENT_CPUID] = "cpuid",	 [EVENT_FPU] = "fpu",		[EVENT_VMRUN] = "vmrun",
	[EVENT_VMEXIT] = "vmexit",	 [EVENT_VMSTATE] = "vmstate",
};

static bool prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e || byte == 0x36 || byte == 0x3e ||
	       byte == 0x26 || byte == 0x64 || byte == 0x65 || (byte & 0xf0) == 0x40;
}

/* nop dword ptr [rax + name] */
static enum event marker(const uint8_t *bytes, size_t size)
{
	static const uint8_t no_operation[] = {0x0f, 0x1f, 0x80};
	static const struct {
		const char *name;
		enum event event;
	} markers[] = {
		{"Begn", EVENT_BEGIN}, {"Done", EVENT_DONE},  {"Resp", EVENT_RESPONSE}, {"From", EVENT_FROM},
		{"Upto", EVENT_UPTO},  {"Woke", EVENT_WOKE},  {"Bit0", EVENT_ZERO},	  {"Bit1", EVENT_ONE},
		{"Entr", EVENT_ENTRY}, {"Late", EVENT_LATE},
	};

	if (size != 7 || memcmp(bytes, no_operation, sizeof no_operation) != 0)
		return EVENT_NONE;
	for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++)
		if (memcmp(bytes + sizeof no_operation, markers[i].name, strlen(markers[i].name)) == 0)
			return markers[i].event;
	return EVENT_NONE;
}

/* 0f 01 and a third byte. */
static enum event system_group(uint8_t third)
{
	switch (third) {
	case 0xd8:
		return EVENT_VMRUN;
	case 0xda:
	case 0xdb:
		return EVENT_VMSTATE;
	case 0xdc:
		return EVENT_STGI;
	case 0xdd:
		return EVENT_CLGI;
	case 0xdf: /* INVLPGA */
		return EVENT_INVLPG;
	}
	return third < 0xc0 && (third >> 3 & 7) == 7 ? EVENT_INVLPG : EVENT_NONE;
}

static enum event control_register(uint8_t third)
{
	uint8_t number = third >> 3 & 7;

	return number == 3 ? EVENT_CR3 : number == 4 ? EVENT_CR4 : EVENT_NONE;
}

/*
 * 0f ae with a memory operand: /4 XSAVE, /5 XRSTOR, /6 XSAVEOPT; 0f c7: /3 XRSTORS, /4 XSAVEC, /5
 * XSAVES.
 */
static enum event state_group(uint8_t second, uint8_t third)
{
	uint8_t number = third >> 3 & 7;

	if (third >= 0xc0)
		return EVENT_NONE;
	return (second == 0xae ? number >= 4 && number <= 6 : number >= 3 && number <= 5) ? EVENT_FPU : EVENT_NONE;
}

static enum event two_bytes(uint8_t second, uint8_t third)
{
	switch (second) {
	case 0x01:
		return system_group(third);
	case 0x05:
		return EVENT_SYSCALL;
	case 0x07:
		return EVENT_SYSRET;
	case 0x22:
		return control_register(third);
	case 0x30:
	case 0x32:
		return EVENT_MSR;
	case 0xa2:
		return EVENT_CPUID;
	case 0xae:
	case 0xc7:
		return state_group(second, third);
	}
	return EVENT_NONE;
}

static enum event one_byte(uint8_t first)
{
	switch (first) {
	case 0x6c ... 0x6f:
	case 0xe4 ... 0xe7:
	case 0xec ... 0xef:
		return EVENT_PORT;
	case 0xcf:
		return EVENT_IRET;
	case 0xf4:
		return EVENT_HLT;
	case 0xfa:
		return EVENT_CLI;
	case 0xfb:
		return EVENT_STI;
	}
	return EVENT_NONE;
}

enum event event_of(const uint8_t *bytes, size_t size)
{
	enum event event = marker(bytes, size);
	size_t i = 0;

	if (event != EVENT_NONE)
		return event;
	while (i < size && prefix(bytes[i]))
		i++;
	if (i == size)
		return EVENT_NONE;
	if (bytes[i] != 0x0f)
		return one_byte(bytes[i]);
	return i + 1 < size ? two_bytes(bytes[i + 1], i + 2 < size ? bytes[i + 2] : 0) : EVENT_NONE;
}
