/*
 * A machine's only program, which QEMU loads: each processor executes pieces of work of a known
 * length. The processors take turns in the middle of each, at every PAUSE.
 *
 * Processor I does PIECES pieces of (I + 1) * ROUNDS rounds: 3 * (I + 1) * ROUNDS + 2 instructions
 * from the marker "From", included, to "Upto". Each lies between two STI; nothing else between two
 * is as long. No interrupt ever comes.
 */
#define PIECES 3
#define ROUNDS 1000
#define PROCESSORS 3

#define LOCAL_APIC 0xfee00000
#define APIC_ID 0x20
#define APIC_COMMAND 0x300
#define INIT_TO_OTHERS 0xc4500
/* At page 8 of memory. */
#define START_OTHERS 0xc4608
#define STARTED_AT 0x8000

#define PIC_MASK 0x21
#define SECOND_PIC_MASK 0xa1
#define CODE 0x08
#define DATA 0x10
/* isa-debug-exit's default. */
#define EXIT_PORT 0x501

	.section .text
	.code32
	/* What QEMU's loader looks for (Multiboot). */
	.long	0x1badb002, 0, -0x1badb002

	.globl	_start
_start:	mov	$0xff, %al
	out	%al, $PIC_MASK
	out	%al, $SECOND_PIC_MASK
	mov	$started, %esi
	mov	$STARTED_AT, %edi
	mov	$(started_end - started), %ecx
	rep movsb
	movl	$INIT_TO_OTHERS, LOCAL_APIC + APIC_COMMAND
	mov	$1000, %ecx
1:	pause
	loop	1b
	movl	$START_OTHERS, LOCAL_APIC + APIC_COMMAND
	mov	$all_ended, %ebp
	jmp	work
	/* The others' ends are not to be missed. */
all_ended:
1:	pause
	sti
	cmpl	$PROCESSORS, ended
	jne	1b
	mov	$EXIT_PORT, %dx
	xor	%eax, %eax
	out	%al, %dx
	hlt

	/* Where the others start, in real mode. It is copied, so addresses are relative. */
	.code16
started:
	cli
	mov	%cs, %ax
	mov	%ax, %ds
	lgdtl	descriptors_place - started
	mov	%cr0, %eax
	or	$1, %al
	mov	%eax, %cr0
	ljmpl	$CODE, $protected
descriptors_place:
	.word	descriptors_end - descriptors - 1
	.long	descriptors
started_end:

	.code32
protected:
	mov	$DATA, %eax
	mov	%eax, %ds
	mov	$sleep, %ebp
	jmp	work
sleep:	hlt
	jmp	sleep

	/* Goes on at %ebp: there is no stack. */
work:	mov	LOCAL_APIC + APIC_ID, %eax
	shr	$24, %eax
	inc	%eax
	imul	$ROUNDS, %eax, %edx
	mov	$PIECES, %ebx
2:	sti
	.byte	0x0f, 0x1f, 0x80
	.ascii	"From"
	mov	%edx, %ecx
1:	pause
	dec	%ecx
	jnz	1b
	.byte	0x0f, 0x1f, 0x80
	.ascii	"Upto"
	sti
	dec	%ebx
	jnz	2b
	lock incl ended
	jmp	*%ebp

	.balign	8
descriptors:
	.quad	0, 0x00cf9a000000ffff, 0x00cf92000000ffff
descriptors_end:
	.balign	4
ended:	.long	0
