/* Calling conventions: nothing special on this machine. */
#ifndef LINUX_LINKAGE_H
#define LINUX_LINKAGE_H

#ifndef asmlinkage
#ifdef __cplusplus
#define asmlinkage extern "C"
#else
#define asmlinkage
#endif
#endif
#ifndef FASTCALL
#define FASTCALL(declaration) declaration
#endif
#ifndef fastcall
#define fastcall
#endif

#endif
