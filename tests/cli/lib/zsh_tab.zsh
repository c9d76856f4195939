# tests/cli/lib/zsh_tab.zsh -- what a tab makes of a line, in a zsh of its own.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: zsh -f zsh_tab.zsh FUNCTIONS LINE
# Prints LINE as it stands after the tab, whose completion must be the only one.
zmodload zsh/zpty || exit 2
zpty shell zsh -f -i
zpty -w shell "PS1= PROMPT= RPROMPT=; fpath=(${(q)1} \$fpath)"
zpty -w shell "autoload -Uz compinit && compinit -u -D"
zpty -w shell 'show() { print -r -- $'"'\n'"'"<<$BUFFER>>"; exit }'
zpty -w shell 'zle -N show; bindkey "^X" show; print READY$((1))'
zpty -r shell said '*READY1*'
zpty -n -w shell "$2"$'\t'$'\x18'
zpty -r shell said '*<<*>>*'
said=${said##*'<<'}
print -r -- "${said%%'>>'*}"
zpty -d shell
