/* In-place division of long numbers. */
#ifndef ASM_DIV64_H
#define ASM_DIV64_H

/* Divides the variable `number` by `divisor`; the result is the remainder. */
#define do_div(number, divisor) ({ \
	unsigned int do_div_by_ = (divisor); \
	unsigned int do_div_rest_ = (unsigned long long)(number) % do_div_by_; \
	(number) = (unsigned long long)(number) / do_div_by_; \
	do_div_rest_; \
})

#endif
