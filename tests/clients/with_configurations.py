"""Configurations of all kinds: the text and the HP segment that expfs gives them are
those of PyYAML, json and WeightsLab's own ExperimentHashGenerator.

They are made by rules from fixed seeds. tests/unit/hp_text, which `make check` builds,
tells what expfs makes of a file.
"""

import hashlib
import itertools
import json
import os
import random
import subprocess
from pathlib import Path

os.environ.update(
    WEIGHTSLAB_OPENCODE_AUTOINSTALL="0",  # importing it would start a download
    WL_NO_TELEMETRY="1",
    WEIGHTSLAB_SKIP_SECURE_INIT="true",
    WEIGHTSLAB_LOG_TO_FILE="false",
    WEIGHTSLAB_LOG_LEVEL="ERROR")

import yaml

from client import Skip, after_remount, main, test

NOT_HASHED = ["is_training", "pause_at_step", "experiment_name"]

SCALARS = r"""
1e-4 1.0e-4 1.0e+4 1.0e4 1.e+3 .5 -.5 5. 1_000 1_000.5 0b101 -0b1_1 0b 0x1F -0xff 0o12 012 -012 08 08.5
0_ 0 -0 +0 +12 00 0_7 1:30 190:20:30 190:20:30.15 1:60 -1:30 1:30. 01:30 +1:2:3 .inf -.inf +.inf .Inf
.INF .iNf .nan .NaN .NAN -.nan ~ null Null NULL nULL yes Yes YES yEs no No on On ON off OFF true True
TRUE tRUE false y n Y N 2001-01-01 2001-1-1 2000-02-29 9999-12-31 2001-12-14t21:59:43.10-05:00
2001-12-14T21:59:43Z 2001-12-15T2:59:43.1234567 2001-12-14T21:59:43+5 2001-12-14T21:59:43-00:00
2001-12-14T21:59:43+23:59 2001-12-14T1:00:00. 2001-12-14T1:00:00+05:99 1e5 1.5E+5 1.5e5 1e400 1.0e+400
-1.0e+400 1.0e-400 123456789012345678901234567890 0xffffffffffffffffffffffff 0777777777777777777777777777
1e16 1.0e+16 1.0e+15 123456789.123456789 0.1 0.30000000000000004 5.0e-324 2.2250738585072014e-308
1.7976931348623157e+308 9007199254740993.0 1.0e-5 0.0001 0.00001 100000000000000000.0 --1 1+1 1__0 1_ _1
1_.5 1._5 é 日本 😀 a:b a#b a-b -a .. "" '' 'x' "\n" "\x41" "\u00e9" "\U0001F600" "\0" "\e" "\_" "\L" "a\tb"
"\/" 'it''s' "1" '~' 'yes' [] {} [1,[2]] {aa,bb} /a/path.txt http://host:80/x text 0b_ 0x_ 2001-13-01
2001-02-29 0000-01-01 2001-12-14T24:00:00 2001-12-14T1:60:00 2001-12-14T21:59:43+24 = << , @ ` % & * ! ?
-
""".split()

TAGS = [
    "", "! ", "!!str ", "!!int ", "!!float ", "!!bool ", "!!null ", "!!binary ", "!!timestamp ", "!!seq ",
    "!!map ", "!x ", "!<tag:yaml.org,2002:float> ", "!!python/tuple ",
]

DOCUMENTS = [
    "", "# nothing\n", "---\n", "---\n...\n", "null\n", "{}\n", "- list\n", "text\n", "aa: 1\n---\nbb: 2\n",
    "%YAML 1.1\n---\naa: 1\n", "%TAG !y! tag:yaml.org,2002:\n---\naa: !y!int '5'\n", "\ufeffaa: é\n",
    "aa: 1\r\nbb: 2\r\n", "aa: 1\rbb: 2\r", "aa: 1\x85bb: 2\u2028cc: 3\n",
    "aa: |\n  one\n   two\n\n  three\n\n", "aa: >+\n  one\n  two\n\n  three\n\n", "aa: |2-\n   one\n",
    "aa: plain\n  on two\n\n  lines\n", "aa: 'one\n  two'\nbb: \"one\\\n  two\"\n", "? aa\n: 1\n? bb\n",
    "? [aa]\n: 1\n", "{aa: 1, bb: [2, cc: 3]}\n", "aa: &aa [1]\nbb: *aa\n", "aa: *aa\n",
    "aa: &aa 1\nbb: &aa 2\n", "aa: &aa [*aa]\n", "&aa kk: 1\nbb: *aa\n", "aa: 1\nbb: 2\naa: 3\n", "1: aa\n",
    "~: aa\n", "yes: aa\n", "aa: {1: x, true: y, 1.0: z}\n", "aa: {true: y, 1: x}\n",
    "aa: {10: x, 9: y, -1: z, .5: 0, .inf: 0}\n", "aa: {0: x, -0.0: y}\n",
    "aa: {9007199254740993: x, 9007199254740992.0: y, 1.0e+300: z}\n", "aa: {~: x}\n", "aa: {1: x, b: y}\n",
    "aa: {2001-01-01: x}\n", "aa: {.nan: x}\n", "aa: {=: x, '<<': y}\n",
    "aa: {Z: 1, z: 2, é: 3, _: 4, 😀: 5, \uffff: 6}\n",
    "aa: {bb: &bb {xx: 1, yy: 2}}\ncc: {<<: *bb, yy: 3}\n", "aa: {<<: [{xx: 1}, {yy: 2}], zz: 3}\n",
    "aa: {<<: {<<: {xx: 1}, yy: 2}}\n", "aa: {<<: 1}\n", "aa: {<<: [1]}\n", "aa: {<<: []}\n",
    "<<: {lr: 1, experiment_name: x}\n", "aa: &aa [{xx: 1}, {yy: 2}]\nbb: {<<: *aa }\n",
    "aa: !!set {}\nbb: !!set {xx}\ncc: !!set {1: 2}\ndd: !!set {~}\nee: !!set {\"it's\"}\n",
    "aa: !!set [xx]\n", "aa: !!omap [xx: 1, yy: [2]]\n", "aa: !!pairs [xx: 1, xx: 2, {[1]: {yy: 2}}]\n",
    "aa: !!omap {xx: 1}\n", "aa: !!pairs [{xx: 1, yy: 2}]\n",
    "aa: !!binary aGkn\nbb: !!binary |\n  AAkK\n  DVx/gA==\ncc: !!binary \"Jy I=\"\n", "aa: !!binary a\n",
    "aa: !!binary AA=\n", "aa: !!timestamp 2001-1-1\n", "aa: ! |\n  12\n", "aa: !\n", "aa: !!str\n",
    "aa: [1\n", "aa: 1\n bb: 2\n", "aa: \x7f\n", "aa: \0\n", "auditor_mode: yes\n",
    "auditor_mod: 1\nauditor_modes: 2\n",
    "is_training: true\npause_at_step: 3\nexperiment_name: [é]\naa: 1\n",
    "root_log_dir: /mnt/run\nlr: 0.001\n", "aa: 0x" + "f" * 3000 + "\n", "aa: " + "9" * 4300 + "\n",
    "aa: " + "9" * 4301 + "\n",
]

VALUES = [
    "1", "-0", "0", "1e5", "1E400", "-1e-400", "1.50", "1e-05", "0.1", "123456789012345678901234567890",
    "true", "false", "null", "NaN", "Infinity", "-Infinity", '"a"', '"\\u00e9"', '"\\ud83d\\ude00"',
    '"\\ud83d"', '"\\udc00x"', '"\\ud83d\\u0041"', '"\\u0000"', '"\\b\\f\\n\\r\\t\\/\\\\\\""', '"é日😀\x7f"',
    "[]", "{}",
]


def scalar(rng):
    return rng.choice(["1", "0.1", "1.0e-4", "1e-4", "yes", "~", "relu", "'x y'", "é", "012", "1:30"] + SCALARS[:60])


def flow(rng, depth):
    choice = rng.random()
    if depth > 3 or choice < 0.5:
        return scalar(rng)
    if choice < 0.75:
        return "[" + ", ".join(flow(rng, depth + 1) for _ in range(rng.randrange(4))) + "]"
    return "{" + ", ".join(f"{key(rng)}: {flow(rng, depth + 1)}" for _ in range(rng.randrange(4))) + "}"


def key(rng):
    return rng.choice(["lr", "wd", "model", "data", "épée", "x y", "'10'", '"<<"', "Zeta", "_x",
                       "root_log_dir", "auditor_modf"])


def block(rng, depth, indent, anchors):
    lines = []
    for _ in range(rng.randrange(1, 6)):
        space, choice = " " * indent, rng.random()
        if depth < 3 and choice < 0.3:
            anchor = f" &m{len(anchors)}" if rng.random() < 0.5 else ""
            lines.append(f"{space}{key(rng)}:{anchor}")
            if anchors and rng.random() < 0.3:
                lines.append(f"{space}  <<: *{rng.choice(anchors)}")
            lines += block(rng, depth + 1, indent + 2, anchors if anchor else list(anchors))
            if anchor:
                anchors.append(anchor[2:])
        elif choice < 0.4:
            lines.append(f"{space}{key(rng)}:")
            lines += [f"{space}- {flow(rng, depth)}" for _ in range(rng.randrange(1, 4))]
        elif choice < 0.5:
            lines.append(f"{space}{key(rng)}: {rng.choice(['|', '|-', '>', '>+'])}")
            lines += [f"{space}  {rng.choice(['text', ' more', '', 'é # no comment'])}" for _ in range(3)]
        elif anchors and choice < 0.6:
            lines.append(f"{space}{key(rng)}: *{rng.choice(anchors)}")
        else:
            lines.append(f"{space}{key(rng)}: {flow(rng, depth)}{rng.choice(['', '', '  # why'])}")
    return lines


def json_value(rng, depth=0):
    choice = rng.random()
    if depth > 3 or choice < 0.5:
        return rng.choice(VALUES)
    if choice < 0.7:
        return "[" + ", ".join(json_value(rng, depth + 1) for _ in range(rng.randrange(4))) + "]"
    keys = rng.choices(["a", "b", "é", "\uffff", "😀", "auditor_mode", ""], k=rng.randrange(5))
    return "{" + ",\n ".join(f'"{key}" : {json_value(rng, depth + 1)}' for key in keys) + "}"


def configurations():
    """Pairs of a name's end and bytes."""
    for tag, text in itertools.product(TAGS, SCALARS):
        yield ".yaml", f"aa: {tag}{text}\n".encode()
    for text in DOCUMENTS:
        yield ".yaml", text.encode()
    yield ".yaml", "aa: é\n".encode("utf-16")
    yield ".yaml", b"aa: \xff\n"
    for seed in range(1000):
        rng = random.Random(seed)
        yield ".yaml", "\n".join(block(rng, 0, 0, []) + [""]).encode()
        yield ".json", (f'{{"lr": {json_value(rng)}, "é": {json_value(rng)}}}').encode()


def as_python_reads(ending, content):
    """The configuration; an exception if there is none."""
    value = json.loads(content.decode()) if ending == ".json" else yaml.safe_load(content)
    value = {} if value is None else value
    if not isinstance(value, dict):
        raise ValueError("no map")
    return value


def as_python_writes(value):
    value = {key: item for key, item in value.items() if key not in NOT_HASHED}
    value.setdefault("auditor_mode", False)
    return json.dumps(value, sort_keys=True, default=str)


def expected(ending, content):
    try:
        return as_python_writes(as_python_reads(ending, content))
    except Exception:  # whatever it is, there is no segment
        return None


def hp_text(groups):
    """What expfs makes of each group of files: text and segment, or None and a reason."""
    program = Path(os.environ["EXPFS"]).parent / "tests" / "unit" / "hp_text"
    if not program.exists():
        raise Skip(f"there is no {program}; make check builds it")
    lines = b"".join(b"\t".join(map(os.fsencode, group)) + b"\n" for group in groups)
    done = subprocess.run([program, "-r"], input=lines, stdout=subprocess.PIPE, check=True)
    answers = [line.split("\t") for line in done.stdout.decode("ascii").splitlines()]
    assert len(answers) == len(groups), (len(answers), len(groups))
    return [(None if text == "-" else text, rest) for text, rest in answers]


def answers(top):
    """Of each configuration its name's end, its bytes, and what expfs makes of them."""
    given = list(configurations())
    found = hp_text([[top / "configurations" / f"{number}{ending}"] for number, (ending, _) in enumerate(given)])
    return [(*one, *other) for one, other in zip(given, found)]


def compare(top):
    taken, refused, wrong = 0, 0, []
    for ending, content, text, segment in answers(top):
        wanted = expected(ending, content)
        if text != wanted or (text and segment != hashlib.sha256(text.encode()).hexdigest()[:8]):
            wrong.append((content, wanted, text, segment))
        taken += text is not None
        refused += text is None
    assert not wrong, f"{len(wrong)} differ, as {wrong[:3]}"
    return taken, refused


@test("over 2000 configurations have the text that PyYAML and json give them, and the others are refused")
def texts(top):
    (top / "configurations").mkdir()
    for number, (ending, content) in enumerate(configurations()):
        (top / "configurations" / f"{number}{ending}").write_bytes(content)
    taken, refused = compare(top)
    assert taken > 2000 and refused > 500, (taken, refused)


@test("they have the segments that WeightsLab gives them")
def segments(top):
    from weightslab.components.experiment_hash import ExperimentHashGenerator
    generator = ExperimentHashGenerator()
    compared = 0
    for ending, content, text, segment in answers(top):
        try:
            value = as_python_reads(ending, content)
        except Exception:
            continue
        found = generator.generate_hash(model=None, config=value, data_state=None)[:8]
        assert found == (segment if text else "00000000"), (content, found, text, segment)
        compared += 1
    assert compared > 2000, compared


@test("several files count as one object by path, whatever bytes the path has")
def several(top):
    directory = top / "several"
    directory.mkdir()
    names = ["b.yaml", "a.json", "é.yaml", os.fsdecode(b"\xff\xe9\xed\xa0\x80.yaml"), "😀.yml", "\uffff", 'q"\\.yaml']
    for name in names:
        (directory / name).write_bytes(b'{"lr": 0.5, "experiment_name": "x", "auditor_mode": true}')
    content = {"lr": 0.5, "auditor_mode": True}  # of each file its own; one more stands at the top
    (text, _), = hp_text([[directory / name for name in names]])
    assert text == as_python_writes({name: content for name in names}), text


@after_remount("they still do")
def remounted(top):
    compare(top)


if __name__ == "__main__":
    main()
