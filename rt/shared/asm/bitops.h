/* Atomic operations on bits in memory. */
#ifndef ASM_BITOPS_H
#define ASM_BITOPS_H

#define PILLION_BIT_WORD(number, address) ((volatile unsigned int *)(address) + ((unsigned int)(number) >> 5))
#define PILLION_BIT_MASK(number) (1U << ((number) & 31))

static __inline__ void set_bit(int number, volatile void *address)
{
	__atomic_fetch_or(PILLION_BIT_WORD(number, address), PILLION_BIT_MASK(number), __ATOMIC_SEQ_CST);
}

static __inline__ void clear_bit(int number, volatile void *address)
{
	__atomic_fetch_and(PILLION_BIT_WORD(number, address), ~PILLION_BIT_MASK(number), __ATOMIC_SEQ_CST);
}

static __inline__ void change_bit(int number, volatile void *address)
{
	__atomic_fetch_xor(PILLION_BIT_WORD(number, address), PILLION_BIT_MASK(number), __ATOMIC_SEQ_CST);
}

static __inline__ int test_and_set_bit(int number, volatile void *address)
{
	return (__atomic_fetch_or(PILLION_BIT_WORD(number, address), PILLION_BIT_MASK(number), __ATOMIC_SEQ_CST) & PILLION_BIT_MASK(number)) != 0;
}

static __inline__ int test_and_clear_bit(int number, volatile void *address)
{
	return (__atomic_fetch_and(PILLION_BIT_WORD(number, address), ~PILLION_BIT_MASK(number), __ATOMIC_SEQ_CST) & PILLION_BIT_MASK(number)) != 0;
}

static __inline__ int test_and_change_bit(int number, volatile void *address)
{
	return (__atomic_fetch_xor(PILLION_BIT_WORD(number, address), PILLION_BIT_MASK(number), __ATOMIC_SEQ_CST) & PILLION_BIT_MASK(number)) != 0;
}

static __inline__ int test_bit(int number, const volatile void *address)
{
	return (*PILLION_BIT_WORD(number, address) & PILLION_BIT_MASK(number)) != 0;
}

/* Number of the lowest bit that is 0 (ffz) or 1 (__ffs); the word must have one. */
static __inline__ unsigned long ffz(unsigned long word)
{
	return (unsigned long)__builtin_ctzl(~word);
}

static __inline__ unsigned long __ffs(unsigned long word)
{
	return (unsigned long)__builtin_ctzl(word);
}

#endif
