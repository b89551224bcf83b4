/* Atomic counters. */
#ifndef ASM_ATOMIC_H
#define ASM_ATOMIC_H

typedef struct {
	volatile int counter;
} atomic_t;

#define ATOMIC_INIT(value) { (value) }
#define atomic_read(atomic) ((atomic)->counter)
#define atomic_set(atomic, value) ((void)((atomic)->counter = (value)))
#define atomic_add_return(value, atomic) __atomic_add_fetch(&(atomic)->counter, (value), __ATOMIC_SEQ_CST)
#define atomic_sub_return(value, atomic) __atomic_sub_fetch(&(atomic)->counter, (value), __ATOMIC_SEQ_CST)
#define atomic_add(value, atomic) ((void)atomic_add_return((value), (atomic)))
#define atomic_sub(value, atomic) ((void)atomic_sub_return((value), (atomic)))
#define atomic_inc(atomic) atomic_add(1, (atomic))
#define atomic_dec(atomic) atomic_sub(1, (atomic))
#define atomic_inc_return(atomic) atomic_add_return(1, (atomic))
#define atomic_dec_return(atomic) atomic_sub_return(1, (atomic))
#define atomic_inc_and_test(atomic) (atomic_inc_return(atomic) == 0)
#define atomic_dec_and_test(atomic) (atomic_dec_return(atomic) == 0)
#define atomic_sub_and_test(value, atomic) (atomic_sub_return((value), (atomic)) == 0)

#endif
