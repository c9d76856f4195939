# .packaging/package.mk -- what leaves the tree; a part of the Makefile.
# SPDX-License-Identifier: GPL-3.0-or-later

# As the program itself prints them.
man: all
	@rm -rf $B/man && mkdir -p $B/man
	@for p in $$($B/culprit man --list); do \
	    $B/culprit man $$p >$B/man/$$p || exit; done

# Folders that others use too, as bin/, are not taken away.
install: all man
install uninstall:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' .packaging/install.sh $@ $B

deb:
	@tests/deps.sh $(DEPS) debhelper dpkg-dev
	@.packaging/deb.sh

check-deb: deb
	@tests/deps.sh $(DEPS) debootstrap
	@.packaging/check_deb.sh

artifact: all
	@B=$B J=$J FIG='$(FIG)' SMOKE='$(SMOKE)' .packaging/artifact.sh

.PHONY: man install uninstall deb check-deb artifact
