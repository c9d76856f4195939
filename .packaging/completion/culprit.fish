# .packaging/completion/culprit.fish -- fish completion for culprit.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What there is to choose from is asked of the program itself, which answers
# from the tables that it parses by.

function __culprit_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l program $words[1]
    set -l current (commandline -ct)
    for line in ($program complete $words[2..-1] 2>/dev/null)
        switch $line
            case \tfiles
                __fish_complete_path $current
            case \t'files *'
                __fish_complete_suffix $current (string split ' ' -- $line)[2]
            case \tfolders
                __fish_complete_directories $current
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c culprit -f -a '(__culprit_complete)'
