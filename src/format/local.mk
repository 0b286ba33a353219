libexpfs_a_SOURCES += \
	src/format/pattern.c src/format/pattern.h \
	src/format/role.c src/format/role.h \
	src/format/boxes.c src/format/boxes.h \
	src/format/checkpoint_name.c src/format/checkpoint_name.h \
	src/format/window.c src/format/window.h \
	src/format/zip.c src/format/zip.h \
	src/format/safetensors.c src/format/safetensors.h \
	src/format/safetensors_json.c src/format/safetensors_json.h \
	src/format/parquet.c src/format/parquet.h \
	src/format/hdf5.c src/format/hdf5.h \
	src/format/whole.c src/format/whole.h \
	src/format/scan.h \
	src/format/utf8.h \
	src/format/number.c src/format/number.h \
	src/format/value.c src/format/value.h \
	src/format/timestamp.c src/format/timestamp.h \
	src/format/json_escape.c src/format/json_escape.h \
	src/format/json_value.c src/format/json_value.h \
	src/format/yaml_scalar.c src/format/yaml_scalar.h \
	src/format/yaml_value.c src/format/yaml_value.h \
	src/format/hp.c src/format/hp.h \
	src/format/hp_diff.c src/format/hp_diff.h \
	src/format/arena.c src/format/arena.h \
	src/format/pickle.c src/format/pickle.h \
	src/format/pickle_scan.c src/format/pickle_scan.h \
	src/format/pickle_line.c src/format/pickle_object.c \
	src/format/distcp.c src/format/distcp.h src/format/distcp_names.c \
	src/format/dtype.c src/format/dtype.h \
	src/format/elements.c src/format/elements.h \
	src/format/tensors.c src/format/tensors.h src/format/tensors_read.c \
	src/format/numpy_scalar.c src/format/numpy_scalar.h \
	src/format/source.c src/format/source.h \
	src/format/unpack.c src/format/unpack.h \
	src/format/tensor_content.c src/format/tensor_content.h \
	src/format/tensor_stats.c src/format/tensor_stats.h \
	src/format/identity.c src/format/identity.h \
	src/format/records.c src/format/records.h \
	src/format/torch_composed.c src/format/torch_composed.h \
	src/format/torch_tensor.c src/format/torch_tensor.h \
	src/format/torch.c src/format/torch.h \
	src/format/parts.c src/format/parts.h \
	src/format/npz.c src/format/npz.h \
	src/format/structure.c src/format/structure.h \
	src/format/reason.h \
	src/format/reason.h src/format/utf8.h \
	src/format/pyjson.c src/format/pyjson.h \
	src/format/yaml_guard.c src/format/yaml_guard.h \
	src/format/yaml_walk.c src/format/yaml_walk.h \
	src/format/manifest.c src/format/manifest.h src/format/manifest_write.c \
	src/format/state_file.c src/format/state_file.h \
	src/format/manager_options.c src/format/manager_options.h \
	src/format/snapshot.c src/format/snapshot.h \
	src/format/listing.c src/format/listing.h \
	src/format/metrics.c src/format/metrics.h src/format/metrics_csv.c \
	src/format/trainer_state.c src/format/trainer_state.h
