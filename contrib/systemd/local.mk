# systemd looks for units below /usr/lib and /usr/local/lib; elsewhere: make install systemdunitdir=DIR
systemdunitdir = $(prefix)/lib/systemd/system
nodist_systemdunit_DATA = contrib/systemd/expfs@.service

contrib/systemd/expfs@.service: contrib/systemd/expfs@.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) contrib/systemd && sed 's,@bindir\@,$(bindir),' '$(srcdir)/contrib/systemd/expfs@.service.in' >'$@.new' && mv '$@.new' '$@'

CLEANFILES += contrib/systemd/expfs@.service
EXTRA_DIST += contrib/systemd/expfs@.service.in
