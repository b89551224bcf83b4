/* The cycle counter. */
#ifndef ASM_MSR_H
#define ASM_MSR_H

#define rdtscll(value) ((value) = __builtin_ia32_rdtsc())
#define rdtscl(value) ((value) = (unsigned int)__builtin_ia32_rdtsc())
#define rdtsc(low, high)                                                                     \
	do {                                                                                  \
		unsigned long long rdtsc_ = __builtin_ia32_rdtsc();                           \
		(low) = (unsigned int)rdtsc_;                                                 \
		(high) = (unsigned int)(rdtsc_ >> 32);                                        \
	} while (0)

#endif
