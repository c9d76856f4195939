#!/bin/bash
# sim/late.sh -- the header of a library that is loaded when it is first used.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: sim/late.sh LIST CC [LINK...] >HEADER
# LIST says what of the library is used (sim/README.md); CC and LINK are asked
# for the names of the files that a program linked with it would load.
set -euo pipefail
list=$1 cc=$2
shift 2
name=$(basename "$list" .late)
words() {
	sed -n "s/^$1 //p" "$list"
}
so=$(mktemp)
trap 'rm -f "$so"' EXIT
# shellcheck disable=SC2046 # a word each
$cc -shared -o "$so" -x c /dev/null -Wl,--no-as-needed "$@" $(words link)
files=$(readelf -d "$so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^libc\.')

echo "/* Made of $list by sim/late.sh. */"
echo '#include "sim/late.h"'
words define | sed 's/^/#define /'
words include | sed 's/.*/#include <&>/'
echo "struct late_$name {"
words use | sed 's/.*/	__typeof__(&) *&;/'
echo "};"
echo "extern struct late_$name late_$name;"
echo "extern const struct sim_late late_${name}_library;"
echo "#ifdef LATE_DEFINE"
echo "struct late_$name late_$name;"
echo "static const char *const late_files[] = {"
# shellcheck disable=SC2086
printf '"%s",\n' $files
echo "NULL};"
echo "static const char *const late_names[] = {"
words use | sed 's/.*/"&",/'
echo "NULL};"
echo "const struct sim_late late_${name}_library = {\"$name\", late_files,"
echo "    late_names, &late_$name, sizeof(late_$name)};"
echo "#endif"
words use | sed "s/.*/#undef &\n#define & (*late_$name.&)/"
