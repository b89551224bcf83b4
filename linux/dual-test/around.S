/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Something with all registers as `around_in` says, but for RSP, which is stored there; and all
 * registers after it in `around_out`. Both are a `struct around`: see registers.c.
 */
#define GPR(n) 8 * (n)
#define FLAGS 128
#define FS 136
#define GS 144
#define VECTORS 192

	.macro before
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	pushfq
	mov %rsp, stack(%rip)
	mov %rsp, around_in + GPR(4)(%rip)
	cmpb $0, around_has_bases(%rip)
	je 1f
	rdfsbase %rax
	mov %rax, bases(%rip)
	rdgsbase %rax
	mov %rax, bases + 8(%rip)
	mov around_in + FS(%rip), %rax
	wrfsbase %rax
	mov around_in + GS(%rip), %rax
	wrgsbase %rax
1:	mov around_mask(%rip), %eax
	mov around_mask + 4(%rip), %edx
	xsave64 around_before(%rip)
	xrstor64 around_in + VECTORS(%rip)
	pushq around_in + FLAGS(%rip)
	popfq
	mov around_in + GPR(0)(%rip), %rax
	mov around_in + GPR(1)(%rip), %rcx
	mov around_in + GPR(2)(%rip), %rdx
	mov around_in + GPR(3)(%rip), %rbx
	mov around_in + GPR(5)(%rip), %rbp
	mov around_in + GPR(6)(%rip), %rsi
	mov around_in + GPR(7)(%rip), %rdi
	mov around_in + GPR(8)(%rip), %r8
	mov around_in + GPR(9)(%rip), %r9
	mov around_in + GPR(10)(%rip), %r10
	mov around_in + GPR(11)(%rip), %r11
	mov around_in + GPR(12)(%rip), %r12
	mov around_in + GPR(13)(%rip), %r13
	mov around_in + GPR(14)(%rip), %r14
	mov around_in + GPR(15)(%rip), %r15
	.endm

	/*
	 * Goes on in primary mode. POPF and WRFSBASE were before: the former leads to Linux. The
	 * system call, a sleep, changes three registers.
	 */
	.macro in_primary
	syscall
	mov around_then(%rip), %rax
	mov around_then + 8(%rip), %rcx
	mov around_then + 16(%rip), %r11
	.endm

	.macro after
	mov %rsp, around_out + GPR(4)(%rip)
	mov stack(%rip), %rsp
	pushfq
	mov %rax, around_out + GPR(0)(%rip)
	mov %rcx, around_out + GPR(1)(%rip)
	mov %rdx, around_out + GPR(2)(%rip)
	mov %rbx, around_out + GPR(3)(%rip)
	mov %rbp, around_out + GPR(5)(%rip)
	mov %rsi, around_out + GPR(6)(%rip)
	mov %rdi, around_out + GPR(7)(%rip)
	mov %r8, around_out + GPR(8)(%rip)
	mov %r9, around_out + GPR(9)(%rip)
	mov %r10, around_out + GPR(10)(%rip)
	mov %r11, around_out + GPR(11)(%rip)
	mov %r12, around_out + GPR(12)(%rip)
	mov %r13, around_out + GPR(13)(%rip)
	mov %r14, around_out + GPR(14)(%rip)
	mov %r15, around_out + GPR(15)(%rip)
	popq around_out + FLAGS(%rip)
	mov around_mask(%rip), %eax
	mov around_mask + 4(%rip), %edx
	xsave64 around_out + VECTORS(%rip)
	xrstor64 around_before(%rip)
	cmpb $0, around_has_bases(%rip)
	je 1f
	rdfsbase %rax
	mov %rax, around_out + FS(%rip)
	rdgsbase %rax
	mov %rax, around_out + GS(%rip)
	mov bases(%rip), %rax
	wrfsbase %rax
	mov bases + 8(%rip), %rax
	wrgsbase %rax
1:	popfq
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret
	.endm

	.bss
	.balign 8
stack:	.skip 8
bases:	.skip 16
	.globl around_then, around_page
around_then:
	.skip 24
	.balign 4096
around_page:
	.skip 4096

	.text
	/* A system call; the address behind it. */
	.globl around_call, around_behind
around_call:
	before
	syscall
around_behind:
	after

	/* A write to the page, after a sleep. */
	.globl around_write
around_write:
	before
	in_primary
	movb $1, around_page(%rip)
	after

	/* After a sleep, a loop that only a change of RIP ends, and instructions of one byte behind it. */
	.globl around_wait, around_loop, around_steps
around_wait:
	before
	in_primary
around_loop:
	jmp around_loop
around_steps:
	nop
	nop
	nop
	nop
	after

	.section .note.GNU-stack, "", @progbits
