/*
 * What Pillion has and RTLinux has not.
 */
#ifndef PILLION_H
#define PILLION_H

#ifdef __cplusplus
extern "C" {
#endif

/* Has the program's own cleanup_module run and the program end, as `pillion unload` does in Linux. Returns at once; for all contexts. */
void pillion_unload(void);

#ifdef __cplusplus
}
#endif

#endif
