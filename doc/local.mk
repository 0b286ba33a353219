EXTRA_DIST += doc/architecture.md doc/experiments.md doc/format.md doc/reliability.md doc/performance.md doc/cases.md doc/recovery.md doc/conformance.md doc/tutorial.md doc/developing.md

# A page is for one command or for several; each of the others is a file of one line that leads to it.
dist_man_MANS = \
	doc/man/expfs.1 \
	doc/man/expfs-branch.1 \
	doc/man/expfs-commit.1 \
	doc/man/expfs-decide.1 \
	doc/man/expfs-diff.1 \
	doc/man/expfs-du.1 \
	doc/man/expfs-export.1 \
	doc/man/expfs-forget.1 \
	doc/man/expfs-fsck.1 \
	doc/man/expfs-help.1 \
	doc/man/expfs-history.1 \
	doc/man/expfs-import.1 \
	doc/man/expfs-init.1 \
	doc/man/expfs-load.1 \
	doc/man/expfs-log.1 \
	doc/man/expfs-mount.1 \
	doc/man/expfs-report.1 \
	doc/man/expfs-restore.1 \
	doc/man/expfs-select.1 \
	doc/man/expfs-show.1 \
	doc/man/expfs-signal.1 \
	doc/man/expfs-status.1 \
	doc/man/expfs-umount.1 \
	doc/man/expfs-verify.1 \
	doc/man/expfs-version.1 \
	doc/man/expfs-store.5 \
	doc/man/expfs.config.5 \
	doc/man/expfs-tree.7 \
	doc/man/mount.expfs.8 \
	doc/man/mount.fuse.expfs.8
EXTRA_DIST += doc/architecture.md doc/experiments.md doc/format.md doc/reliability.md doc/performance.md doc/cases.md doc/recovery.md doc/conformance.md
EXTRA_DIST += doc/recipes/README.md doc/recipes/torch.md doc/recipes/lightning.md doc/recipes/trainer.md \
	doc/recipes/weightslab.md doc/recipes/torchlingo.md doc/recipes/containers.md doc/recipes/kubernetes.md \
	doc/recipes/nfs.md doc/recipes/systemd.md doc/recipes/prometheus.md \
	doc/recipes/colab.md doc/recipes/colab.ipynb
