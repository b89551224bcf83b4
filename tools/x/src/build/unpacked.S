/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What stands before an unpacked kernel of Linux, in place of its decompressor: it is entered where
 * that is, at the 32-bit entry point, and goes to the kernel's own in 64-bit mode, with the memory
 * below 4 GiB mapped one to one (Linux Documentation/x86/boot.rst). `esi` is the address of the zero
 * page. The kernel begins at KERNEL, which x defines, and at ENTRY is its first instruction.
 */

/* Pages behind this one, all zeros: tables of four levels, the last with pages of 2 MiB. */
#define ROOT 0x1000
#define THIRD 0x2000
#define SECOND 0x3000
#define STACK 0x1000

#define PRESENT_WRITABLE 3
#define LARGE 0x83

	.code32
	.globl start
start:
	/* The zero page has room for one word of a stack, to learn where this is. */
	leal	0x1e8(%esi), %esp
	call	here
here:	popl	%ebp
	subl	$(here - start), %ebp
	leal	STACK(%ebp), %esp

	leal	THIRD + PRESENT_WRITABLE(%ebp), %eax
	movl	%eax, ROOT(%ebp)
	leal	SECOND + PRESENT_WRITABLE(%ebp), %eax
	movl	$4, %ecx
	leal	THIRD(%ebp), %edi
third:	movl	%eax, (%edi)
	addl	$0x1000, %eax
	addl	$8, %edi
	decl	%ecx
	jnz	third
	movl	$LARGE, %eax
	movl	$(4 * 512), %ecx
	leal	SECOND(%ebp), %edi
second:	movl	%eax, (%edi)
	addl	$0x200000, %eax
	addl	$8, %edi
	decl	%ecx
	jnz	second

	leal	(table - start)(%ebp), %eax
	movl	%eax, (pointer - start + 2)(%ebp)
	lgdt	(pointer - start)(%ebp)
	/* PAE, then EFER.LME, then paging: long mode. */
	movl	%cr4, %eax
	orl	$0x20, %eax
	movl	%eax, %cr4
	leal	ROOT(%ebp), %eax
	movl	%eax, %cr3
	movl	$0xc0000080, %ecx
	rdmsr
	orl	$0x100, %eax
	wrmsr
	movl	%cr0, %eax
	orl	$0x80000000, %eax
	movl	%eax, %cr0
	leal	(long - start)(%ebp), %eax
	pushl	$8
	pushl	%eax
	lret

	.code64
long:	movl	%ebp, %eax
	addq	$(KERNEL + ENTRY), %rax
	movl	%esi, %esi
	jmp	*%rax

	.balign 8
table:	.quad	0
	/* 64-bit code. */
	.quad	0x00af9b000000ffff
pointer:
	.word	15
	.long	0
