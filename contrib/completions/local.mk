# Debian's zsh looks elsewhere: make install zshcompletiondir=DIR
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_zshcompletion_DATA = contrib/completions/_expfs
dist_fishcompletion_DATA = contrib/completions/expfs.fish
EXTRA_DIST += contrib/completions/expfs.bash

# bash-completion looks for a file of the command's name
install-data-local:
	$(MKDIR_P) '$(DESTDIR)$(bashcompletiondir)'
	$(INSTALL_DATA) '$(srcdir)/contrib/completions/expfs.bash' '$(DESTDIR)$(bashcompletiondir)/expfs'

uninstall-local:
	rm -f '$(DESTDIR)$(bashcompletiondir)/expfs'
