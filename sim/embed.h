/* sim/embed.h -- a file as a part of this executable.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef SIM_EMBED_H
#define SIM_EMBED_H

#include <stdint.h>

/* The bytes of FILE, a string: its path from where the compiler runs. They are at
 * NAME_begin, NAME_size of them. So there is no file to be found, or to be of
 * another version. */
#define SIM_EMBED(name, file)                                                  \
	__asm__(".pushsection .rodata\n"                                       \
		".balign 8\n" #name "_begin: .incbin \"" file "\"\n" #name     \
		"_end:\n"                                                      \
		".balign 8\n" #name "_size: .quad " #name "_end - " #name      \
		"_begin\n"                                                     \
		".popsection\n");                                              \
	extern const char name##_begin[];                                      \
	extern const uint64_t name##_size

#endif
