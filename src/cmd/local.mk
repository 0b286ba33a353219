bin_PROGRAMS += expfs
expfs_SOURCES = \
	src/cmd/main.c src/cmd/options.c src/cmd/print.c src/cmd/cmd.h \
	src/cmd/client.c src/cmd/client.h \
	src/cmd/paint.c src/cmd/paint.h \
	src/cmd/place.c src/cmd/place.h \
	src/cmd/outside.c src/cmd/outside.h \
	src/cmd/unmount.c src/cmd/unmount.h \
	src/cmd/init.c \
	src/cmd/mount.c src/cmd/mount.h \
	src/cmd/mount_helper.c \
	src/cmd/mounted.c src/cmd/mounted.h \
	src/cmd/umount.c \
	src/cmd/target.c src/cmd/target.h \
	src/cmd/ask.c src/cmd/ask.h \
	src/cmd/operand.c src/cmd/operand.h \
	src/cmd/status.c \
	src/cmd/du.c \
	src/cmd/log.c \
	src/cmd/show.c \
	src/cmd/history.c \
	src/cmd/restore.c \
	src/cmd/export.c src/cmd/export.h src/cmd/export_store.c src/cmd/export_watch.c src/cmd/export_print.c \
	src/cmd/export_pair.c src/cmd/export_origin.c src/cmd/export_beside.c src/cmd/export_walk.c src/cmd/export_unnamed.c src/cmd/export_plain.c \
	src/cmd/export_version.c src/cmd/export_weightslab.c src/cmd/export_lab.c src/cmd/export_lab.h \
	src/cmd/export_lab_config.c src/cmd/export_lab_config.h \
	src/cmd/shell.c src/cmd/shell.h \
	src/cmd/forget.c \
	src/cmd/commit.c \
	src/cmd/signal.c \
	src/cmd/verify.c src/cmd/verify.h \
	src/cmd/select.c \
	src/cmd/selection.c src/cmd/selection.h \
	src/cmd/decide.c \
	src/cmd/diff.c \
	src/cmd/report.c \
	src/cmd/load.c \
	src/cmd/branch.c \
	src/cmd/fsck.c \
	src/cmd/import.c \
	src/cmd/import_told.c src/cmd/import_told.h \
	src/cmd/import_runs.c src/cmd/import_runs.h \
	src/cmd/import_where.c src/cmd/import_where.h
expfs_LDADD = $(libexpfs_LIBS) $(FUSE_LIBS)

# mount(8) runs it for -t expfs, and for -t fuse.expfs, and looks for it in /sbin alone
mounthelperdir = $(sbindir)

install-exec-hook:
	$(MKDIR_P) '$(DESTDIR)$(mounthelperdir)'
	cd '$(DESTDIR)$(mounthelperdir)' && for name in mount.expfs mount.fuse.expfs; do \
		rm -f $$name && ln -s '$(bindir)/expfs' $$name || exit; done

uninstall-hook:
	rm -f '$(DESTDIR)$(mounthelperdir)/mount.expfs' '$(DESTDIR)$(mounthelperdir)/mount.fuse.expfs'
