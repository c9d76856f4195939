#compdef culprit
# .packaging/completion/culprit.zsh -- zsh completion for culprit, as _culprit.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What there is to choose from is asked of the program itself, which answers
# from the tables that it parses by.

_culprit() {
	local line name doc ending
	local -a plain open told told_open
	local -a asked=("${(@q)words[2,CURRENT]}")
	for line in "${(@f)$(_call_program culprit \
	    "${(q)words[1]} complete ${(j: :)asked}")}"; do
		case $line in
		$'\tfiles'*)
			ending=${${line#$'\tfiles'}# }
			_files ${ending:+-g "*${ending}(-.)"}
			;;
		$'\tfolders')
			_files -/
			;;
		?*)
			name=${line%%$'\t'*}
			doc=${line#*$'\t'}
			if [[ $name == *= ]]; then
				open+=("$name")
				told_open+=("${name}${doc:+  -- $doc}")
			else
				plain+=("$name")
				told+=("${name}${doc:+  -- $doc}")
			fi
			;;
		esac
	done
	(($#open)) && compadd -l -S '' -d told_open -a open
	(($#plain)) && compadd -l -d told -a plain
	return 0
}

# Autoloaded it is the function's body; sourced it tells compinit itself.
if [[ $funcstack[1] == _culprit ]]; then
	_culprit "$@"
elif (($+functions[compdef])); then
	compdef _culprit culprit
fi
