/* What <rtl_signal.h> has, and further functions of POSIX. */
#ifndef PILLION_SIGNAL_H
#define PILLION_SIGNAL_H

#include <rtl_signal.h>

#ifdef __cplusplus
extern "C" {
#endif

void (*signal(int signal, void (*handler)(int)))(int);
int sigprocmask(int how, const sigset_t *set, sigset_t *old);

#ifdef __cplusplus
}
#endif

#define sigemptyset(set) rtl_sigemptyset(set)
#define sigfillset(set) rtl_sigfillset(set)
#define sigaddset(set, signal) rtl_sigaddset(set, signal)
#define sigdelset(set, signal) rtl_sigdelset(set, signal)
#define sigismember(set, signal) rtl_sigismember(set, signal)

#endif
