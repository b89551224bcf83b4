/* Division of long numbers in place. */
#ifndef ASM_DIV64_H
#define ASM_DIV64_H

/* Divides `number`, a variable, by `divisor` and gives the remainder. */
#define do_div(number, divisor) ({ \
	unsigned int do_div_by_ = (divisor); \
	unsigned int do_div_rest_ = (unsigned long long)(number) % do_div_by_; \
	(number) = (unsigned long long)(number) / do_div_by_; \
	do_div_rest_; \
})

#endif
