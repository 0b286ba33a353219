# When the weights of two checkpoints are the same, and when they only look so.

load lib
load weights

setup() { mount_run; }

teardown() { cleanup; }

# A directory checkpoint: checkpoint NAME MODEL OPTIMIZER
directory() {
    mkdir -p "$R/$1"
    save "$1/model.safetensors" "$2"
    save "$1/optimizer.pt" "$3"
    echo '{"global_step": 5, "log_history": []}' >"$R/$1/trainer_state.json"
    wait_until is_complete "$R/$1"
}
is_complete() { [[ $(getfattr --only-values -n user.expfs.complete "$1" 2>/dev/null) == 1 ]]; }

@test "names that are one without what wrappers put into them are told apart where a file has both" {
    save step_1.pt '{"model": {"module.x": w(1), "x": w(2)}}'
    save other_step_1.pt '{"model": {"x": w(1), "module.x": w(2)}}'
    save wrapped_step_1.pt '{"model": {"module.module.x": w(1), "module.x": w(2)}}'
    save order_step_1.pt '{"model": {"x": w(2), "module.x": w(1)}}'
    equal "$(verdict 10 "$R/other_step_1.pt")" RECOVER
    equal "$(verdict 0 "$R/wrapped_step_1.pt")" ACCEPT
    equal "$(verdict 0 "$R/order_step_1.pt")" ACCEPT
}

@test "names that differ behind a NUL are different" {
    save step_1.pt '{"model": {"x\0a": w(1), "y": w(2)}}'
    save other_step_1.pt '{"model": {"x\0b": w(1), "y": w(2)}}'
    equal "$(verdict 10 "$R/other_step_1.pt")" RECOVER
}

@test "two tensors of one name in a file are held, for nothing tells which is which" {
    save step_1.pt '{"model": {"a.b": w(1), "a": {"b": w(2)}, "c": w(3)}}'
    save other_step_1.pt '{"model": {"a": {"b": w(1)}, "a.b": w(2), "c": w(3)}}'
    save tuples_step_2.pt '{"model": {(0, 1): w(1), (1, 0): w(2)}}'
    save others_step_2.pt '{"model": {(1, 0): w(1), (0, 1): w(2)}}'
    equal "$(verdict 13 "$R/other_step_1.pt")" HOLD
    equal "$(field 'a["why"]' "$R/other_step_1.pt")" "2 tensors cannot be told: the others are the same"
    equal "$(verdict 13 "$R/others_step_2.pt")" HOLD
}

@test "an optimizer in a file of its own counts as one in the checkpoint's only file does" {
    directory checkpoint-5 '{"a": w(1)}' '{"state": {0: {"m": w(1)}}}'
    directory sub/checkpoint-5 '{"a": w(1)}' '{"state": {0: {"m": w(2)}}}'
    directory good/checkpoint-5 '{"a": w(1)}' '{"state": {0: {"m": w(1)}}}'
    equal "$(verdict 10 "$R/sub/checkpoint-5")" RECOVER
    equal "$(field 'a["beside"]["content"], a["model"]["equal"]' "$R/sub/checkpoint-5")" "(1, 1)"
    equal "$(verdict 0 "$R/good/checkpoint-5")" ACCEPT
    save step_5.pt '{"model": {"a": w(1)}, "optimizer": {"m": w(1)}}'
    save other_step_5.pt '{"model": {"a": w(1)}, "optimizer": {"m": w(2)}}'
    equal "$(verdict 10 "$R/other_step_5.pt" --against "$R/step_5.pt")" RECOVER
}

@test "weights that are tied are the same under one of their names as under both" {
    save step_1.pt '(lambda x: {"embed.weight": x, "head.weight": v(x), "norm": w(2)})(w(1))'
    save one_step_1.safetensors '{"embed.weight": w(1), "norm": w(2)}'
    save copy_step_1.safetensors '{"embed.weight": w(1), "head.weight": w(1), "norm": w(2)}'
    save none_step_1.safetensors '{"norm": w(2)}'
    equal "$(verdict 0 "$R/one_step_1.safetensors")" ACCEPT
    equal "$(field 'a["model"]["tied"], a["model"]["equal"]' "$R/one_step_1.safetensors")" "(1, 2)"
    equal "$(verdict 0 "$R/copy_step_1.safetensors")" ACCEPT
    equal "$(verdict 10 "$R/none_step_1.safetensors")" RECOVER
    equal "$(verdict 10 "$R/one_step_1.safetensors" --against "$R/copy_step_1.safetensors")" RECOVER # equal, but not tied
}

@test "where only some names begin alike, these are compared under their own names" {
    save step_1.pt '{"model": {"encoder.a": w(1), "encoder.b": w(2), "head": w(3)}}'
    save part_step_1.pt '{"model": {"encoder.a": w(1), "encoder.b": w(2)}}'
    equal "$(verdict 10 "$R/part_step_1.pt")" RECOVER
    equal "$(field 'a["model"]["equal"], a["model"]["missing"], a["model"]["extra"]' "$R/part_step_1.pt")" "(2, 1, 0)"
}

@test "a content under very many names is read once" {
    save step_1.pt '(lambda x: {"n%d" % i: v(x) for i in range(20000)})(t("uint8", [1 << 26], bytes(1 << 26)))'
    save other_step_1.pt '(lambda x: {"a": 1, "model": {"n%d" % i: v(x) for i in range(20000)}})(t("uint8", [1 << 26], bytes(1 << 26)))'
    equal "$(timeout 300 "$EXPFS" verify "$R/other_step_1.pt" 3>&- | head -n 1 | cut -d ' ' -f 1)" ACCEPT
}
