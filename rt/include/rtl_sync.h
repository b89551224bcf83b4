/*
 * Interrupt control, spin locks and queues of waiting threads. While interrupts are off, no other
 * thread and no handler of this task runs.
 */
#ifndef RTL_SYNC_H
#define RTL_SYNC_H

#include <rtl_conf.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long rtl_irqstate_t;

/* Switches interrupts off; returns whether they were on. */
unsigned long rtl_irq_save(void);
/* Switches interrupts on if `were_on` is not 0, else off. */
void rtl_irq_restore(unsigned long were_on);
int rtl_irqs_enabled(void);

#define rtl_no_interrupts(state) ((state) = rtl_irq_save())
#define rtl_restore_interrupts(state) rtl_irq_restore(state)
#define rtl_stop_interrupts() ((void)rtl_irq_save())
#define rtl_allow_interrupts() rtl_irq_restore(1)
#define rtl_hard_cli() rtl_stop_interrupts()
#define rtl_hard_sti() rtl_allow_interrupts()
#define rtl_hard_savef_and_cli(state) rtl_no_interrupts(state)
#define rtl_hard_save_flags_and_cli(state) rtl_no_interrupts(state)
#define rtl_hard_save_flags(state) ((state) = rtl_irqs_enabled())
#define rtl_hard_restore_flags(state) rtl_restore_interrupts(state)
#define rtl_critical(state) rtl_no_interrupts(state)
#define rtl_end_critical(state) rtl_restore_interrupts(state)

typedef struct {
	int taken;
} spinlock_t;
typedef spinlock_t rtl_spinlock_t;
typedef spinlock_t rtl_spin_lock_t;

#ifdef __cplusplus
#define SPIN_LOCK_UNLOCKED spinlock_t()
#else
#define SPIN_LOCK_UNLOCKED ((spinlock_t){ 0 })
#endif
#define RTL_SPINLOCK_UNLOCKED SPIN_LOCK_UNLOCKED
#define DEFINE_SPINLOCK(name) spinlock_t name = { 0 }

void rtl_spin_take(spinlock_t *lock);
int rtl_spin_try(spinlock_t *lock);
void rtl_spin_give(spinlock_t *lock);

#define rtl_spin_lock_init(lock) ((void)((lock)->taken = 0))
#define rtl_spin_lock(lock) rtl_spin_take(lock)
#define rtl_spin_trylock(lock) rtl_spin_try(lock)
#define rtl_spin_unlock(lock) rtl_spin_give(lock)
#define rtl_spin_is_locked(lock) ((lock)->taken)
#define rtl_spin_lock_irqsave(lock, state) do { rtl_no_interrupts(state); rtl_spin_take(lock); } while (0)
#define rtl_spin_unlock_irqrestore(lock, state) do { rtl_spin_give(lock); rtl_restore_interrupts(state); } while (0)

#define spin_lock_init(lock) rtl_spin_lock_init(lock)
#define spin_lock(lock) rtl_spin_lock(lock)
#define spin_trylock(lock) rtl_spin_trylock(lock)
#define spin_unlock(lock) rtl_spin_unlock(lock)
#define spin_lock_irq(lock) rtl_spin_lock(lock)
#define spin_unlock_irq(lock) rtl_spin_unlock(lock)
#define spin_lock_bh(lock) rtl_spin_lock(lock)
#define spin_unlock_bh(lock) rtl_spin_unlock(lock)
#define spin_lock_irqsave(lock, state) rtl_spin_lock_irqsave(lock, state)
#define spin_unlock_irqrestore(lock, state) rtl_spin_unlock_irqrestore(lock, state)

/* Queues of waiting threads. */
typedef struct {
	unsigned long queue;
} rtl_wait_t;
#define RTL_WAIT_INITIALIZER { 0 }

void rtl_wait_init(rtl_wait_t *wait);
/* Releases the lock while the caller waits; returns 0 when it was woken. */
int rtl_wait_sleep(rtl_wait_t *wait, spinlock_t *lock);
void rtl_wait_wakeup(rtl_wait_t *wait);

#ifdef __cplusplus
}
#endif

#endif
