# .packaging/completion/culprit.bash -- bash completion for culprit.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What there is to choose from is asked of the program itself, which answers
# from the tables that it parses by. Either installed, or `source` this file.

_culprit() {
	local -a words=()
	local word join= cur line name i
	# bash breaks words at "=" and ":"; the program wants them whole.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == [=:]* || -n $join ]] && ((${#words[@]} > 0)); then
			words[-1]+=$word
		else
			words+=("$word")
		fi
		join=
		[[ $word != *[=:] ]] || join=1
	done
	cur=${words[-1]-}
	# Only what stands behind the last break is replaced.
	local stands=${cur%"${cur##*[=:]}"}
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		$'\tfiles'*)
			compopt -o filenames 2>/dev/null
			name=${line#$'\tfiles'} name=${name# }
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(
				compgen -d -- "${cur#"$stands"}"
				compgen -f ${name:+-X "!*$name"} -- "${cur#"$stands"}"
			)
			;;
		$'\tfolders')
			compopt -o filenames 2>/dev/null
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(
				compgen -d -- "${cur#"$stands"}"
			)
			;;
		*)
			name=${line%%$'\t'*}
			COMPREPLY+=("${name#"$stands"}")
			[[ $name != *= ]] || compopt -o nospace 2>/dev/null
			;;
		esac
	done < <("${COMP_WORDS[0]}" complete "${words[@]}" 2>/dev/null)
	return 0
}

complete -F _culprit culprit
