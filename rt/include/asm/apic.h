/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef ASM_APIC_H
#define ASM_APIC_H
#endif
