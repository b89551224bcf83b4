/* SPDX-License-Identifier: GPL-2.0-only */
/* hold(): see hold.h. */
#include "registers.h"

/* A struct hold. */
#define LOADED (%rbx)
#define FOUND 8(%rbx)
#define OTHER 16(%rbx)
#define OWN 24(%rbx)
#define IN_LINUX 32(%rbx)
#define HAS_WAITED 40(%rbx)

/* System calls, and operations of private futexes. */
#define SYS_futex 202
#define SYS_futex_waitv 449
#define WAIT 128
#define WAKE 129
#define CLOCK_MONOTONIC 1

	.macro load_xmm number
	movups 32 * \number(%rax), %xmm\number
	.endm
	.macro load_ymm number
	vmovups 32 * \number(%rax), %ymm\number
	.endm
	.macro store_xmm number
	movups %xmm\number, 32 * \number(%rax)
	.endm
	.macro store_ymm number
	vmovups %ymm\number, 32 * \number(%rax)
	.endm

	.text
	.globl hold
	.type hold, @function
hold:
	push %rbx
	push %r12
	sub $8, %rsp
	mov %rdi, %rbx
	mov OWN, %r12
	stmxcsr (%rsp)
	fnstcw 4(%rsp)

	mov LOADED, %rax
	test %rax, %rax
	jz give
	ldmxcsr AT_MXCSR(%rax)
	fninit
	fldcw AT_CONTROL(%rax)
	.irp at, 7, 6, 5, 4, 3, 2, 1, 0
	fildll AT_STACK + 8 * \at(%rax)
	.endr
	cmpb $0, registers_have_ymm(%rip)
	jne 1f
	.irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	load_xmm \number
	.endr
	jmp give
1:	.irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	load_ymm \number
	.endr

give:	mov OTHER, %rdi
	test %rdi, %rdi
	jz wait
	mov $1, %eax
	xchg %eax, (%rdi)
	mov $SYS_futex, %eax
	mov $WAKE, %esi
	mov $1, %edx
	syscall

	/* Wake-ups without a reason, and signals, end a wait as well. */
wait:	cmpl $0, (%r12)
	jne store
	mov IN_LINUX, %rdi
	test %rdi, %rdi
	jnz 1f
	mov $SYS_futex, %eax
	mov %r12, %rdi
	mov $WAIT, %esi
	xor %edx, %edx
	xor %r10d, %r10d
	syscall
	jmp waited
1:	mov $SYS_futex_waitv, %eax
	mov $1, %esi
	xor %edx, %edx
	xor %r10d, %r10d
	mov $CLOCK_MONOTONIC, %r8d
	syscall
waited:	test %rax, %rax
	setz HAS_WAITED
	jmp wait

store:	movl $0, (%r12)
	cmpq $0, LOADED
	je end
	mov FOUND, %rax
	cmpb $0, registers_have_ymm(%rip)
	jne 1f
	.irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	store_xmm \number
	.endr
	jmp 2f
1:	.irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	store_ymm \number
	.endr
	vzeroupper
2:	stmxcsr AT_MXCSR(%rax)
	movl $0, AT_CONTROL(%rax)
	fnstcw AT_CONTROL(%rax)
	.irp at, 0, 1, 2, 3, 4, 5, 6, 7
	fistpll AT_STACK + 8 * \at(%rax)
	.endr
	fninit
end:	ldmxcsr (%rsp)
	fldcw 4(%rsp)
	add $8, %rsp
	pop %r12
	pop %rbx
	ret
	.size hold, . - hold

	.section .note.GNU-stack, "", @progbits
