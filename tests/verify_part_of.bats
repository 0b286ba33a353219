# Weights that are a part of what another checkpoint holds.

load lib
load weights

setup() {
    mount_run
    local s
    for s in 1 2; do
        save step_$s.pt "{'model': {'backbone.conv.w': w('c$s'), 'backbone.norm': w('n$s'), 'head.w': w('h$s')},
            'ema': {'module.backbone.conv.w': w('ec$s'), 'module.backbone.norm': w('en$s'), 'module.head.w': w('eh$s')},
            'optimizer': {'m': w('m$s')}}"
    done
}

teardown() { cleanup; }

# parts PATH: steps of which it is a part
parts() { field '[(p["path"].rsplit("/", 1)[1], p["step"]) for p in a["part_of"]]' "$R/$1"; }

@test "a backbone is found in the checkpoint that it was taken from, with its prefix or without it" {
    save backbone.safetensors '{"conv.w": w("c2"), "norm": w("n2")}'
    save whole.safetensors '{"backbone.conv.w": w("c2"), "backbone.norm": w("n2")}'
    save wrapped.safetensors '{"module.net.conv.w": w("c2"), "module.net.norm": w("n2")}'
    local n
    for n in backbone whole wrapped; do equal "$(parts $n.safetensors)" "[('step_2.pt', 2)]"; done
    "$EXPFS" verify "$R/backbone.safetensors" >"$SCRATCH/out" 3>&- || true
    equal "$(grep "^part of" "$SCRATCH/out")" "part of    /runs/r/step_2.pt@1, step 2"
}

@test "averaged weights are found beside the model of the step that they were saved at" {
    save best.safetensors '{"backbone.conv.w": w("ec1"), "backbone.norm": w("en1"), "head.w": w("eh1")}'
    equal "$(parts best.safetensors)" "[('step_1.pt', 1)]"
    equal "$(field 'a["holds"]' "$R/best.safetensors")" "[]"
}

@test "what stands there under other names, in another order or form, or only partly, is no part" {
    save swapped.safetensors '{"conv.w": w("n2"), "norm": w("c2")}'
    save mixed.safetensors '{"conv.w": w("c1"), "norm": w("n2")}'
    save more.safetensors '{"conv.w": w("c1"), "norm": w("n1"), "new": w(1)}'
    save renamed.safetensors '{"conv.v": w("c1"), "norm": w("n1")}'
    save form.safetensors '{"conv.w": t("float32", [2, 4], w("c1").storage.data), "norm": w("n1")}'
    save empty.safetensors '{"conv.w": t("float32", [0], b"")}'
    save suffix.safetensors '{"onv.w": w("c1"), "norm": w("n1")}'
    local n
    for n in swapped mixed more renamed form empty suffix; do equal "$(parts $n.safetensors)" "[]" $n; done
}

@test "weights that are all of a model are not called a part of it" {
    save model.safetensors '{"backbone.conv.w": w("c1"), "backbone.norm": w("n1"), "head.w": w("h1")}'
    equal "$(parts model.safetensors)" "[]"
    equal "$(field '[h["step"] for h in a["holds"]]' "$R/model.safetensors")" "[1]"
}

@test "a part of a directory's shards is found, too" {
    mkdir "$R/checkpoint-9"
    save checkpoint-9/model-1.safetensors '{"a.x": w(1), "b.x": w(2)}'
    save checkpoint-9/model-2.safetensors '{"a.y": w(3)}'
    echo '{"global_step": 9}' >"$R/checkpoint-9/trainer_state.json"
    wait_read checkpoint-9
    save a.pt '{"x": w(1), "y": w(3)}'
    equal "$(parts a.pt)" "[('checkpoint-9', 9)]"
}
