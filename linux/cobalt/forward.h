/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that are others by another name, for assembly. */
.macro jump from, to
	.section .text.\from, "ax", @progbits
	.weak \from
	.type \from, @function
\from:
	endbr64
	jmp \to@PLT
	.size \from, . - \from
.endm

	.section .note.GNU-stack, "", @progbits
