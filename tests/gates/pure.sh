#!/bin/bash
# tests/gates/pure.sh -- what an operator runs asks nothing of the machine.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/gates/pure.sh ROOT BUILD     BUILD: from ROOT
# An algorithm has no socket, clock, file, process or generator of its own, so
# that it answers in a data centre as it does in a simulator. It may write to a
# FILE* that it is given. Looked at are the objects of the sources there are:
# one left over from a source that is gone counts for nothing.
. "$(dirname "$0")/lib.sh"

# A libc may call them __printf_chk, __open_2 or open64.
impure='socket connect bind listen accept accept4 send sendto sendmsg recv
recvfrom recvmsg poll ppoll select epoll_wait open openat creat read write
fopen fdopen freopen opendir popen stdin stdout stderr printf vprintf puts
putchar perror time clock clock_gettime gettimeofday sleep usleep nanosleep
rand rand_r srand random random_r srandom drand48 erand48 lrand48 nrand48
mrand48 jrand48 srand48 getrandom getentropy arc4random getenv secure_getenv
exit _exit _Exit quick_exit abort raise kill signal sigaction system fork vfork
execve pthread_create syscall'

faults() {
	sources algos | lines '\.c$' | sed "s|^|$1/|; s|c\$|o|" |
		some "algos/*.c" | xargs -rd '\n' nm -Au |
		lines -E " [Uw] (__)?(${impure//[[:space:]]/|})(64)?(_chk|_2)?$"
}

judge "$@"
