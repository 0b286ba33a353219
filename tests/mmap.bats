# Memory maps are coherent with read and write and outlive descriptors and names.

load lib

setup() { scratch; store_init; mount_store; }
teardown() { cleanup; }

@test "every check of the program below is run" { all_checks_run mapped; }

@test "a shared map and a descriptor see each other's bytes" { check mapped shared; }
@test "a private map changes nothing" { check mapped private; }
@test "an array mapped, closed and unmapped without a flush is whole for the next reader" { check mapped after_close; }
@test "stores through a map after the close do not reach a file with the same bytes" { check mapped stores_into_shared; }
@test "a map outlives rename over its name, unlink and rmtree" { check mapped outlives_name; }
@test "what is cut off below a map gives SIGBUS, and zeros when it is grown again" { check mapped shrinks; }
@test "saving over a file that is mapped gives what a local disk gives" { check mapped saved_over_itself; }
@test "a map sees each write at once, also with O_DIRECT" { check mapped coherent; }
@test "a program on the mount runs" { check mapped executes; }

@test "an array written through a map is the same after a remount" {
    check mapped after_close
    local sum
    sum=$(sha256sum <"$D/array")
    remount
    equal "$(sha256sum <"$D/array")" "$sum"
}

@test "a map changed after its file was shared is the same after a remount" {
    check mapped stores_into_shared
    local sums
    sums=$(cd "$D" && sha256sum first second)
    remount
    equal "$(cd "$D" && sha256sum first second)" "$sums"
}
