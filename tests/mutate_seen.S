/* tests/mutate_seen.S -- notes each function that a program enters, in a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For tests/mutate_seen.py. gcc -pg -mfentry calls __fentry__ first in each function;
 * the byte at its place in `seen` is set, and no register is changed. The file is
 * shared, so what a killed process noted stays.
 */
	.text
	.globl __fentry__
	.type __fentry__, @function
__fentry__:
	pushq %rax
	movq seen_from(%rip), %rax
	testq %rax, %rax
	jz 1f
	/* Where it came from, as an offset from the begin of the program. */
	addq 8(%rsp), %rax
	movb $1, (%rax)
1:	popq %rax
	ret
	.size __fentry__, .-__fentry__
	.section .note.GNU-stack, "", @progbits
