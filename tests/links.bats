# The links in the documentation.

load lib

@test "every link in the README and below doc leads to a page, and a heading there, that is there" {
    python3 - "$EXPFS_SRCDIR" <<'PY'
import re, sys
from pathlib import Path

top = Path(sys.argv[1])
pages = [top / "README.md", *sorted((top / "doc").rglob("*.md"))]

def anchors(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    heads = (re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in re.findall(r"^#+ (.*)$", text, re.M))
    return set(heads)

bad = []
for page in pages:
    text = re.sub(r"^ *```.*?^ *```|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"^\[[^\]]+\]: (\S+)", text, re.M):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or anchor and anchor not in anchors(target):
            bad.append(f"{page.relative_to(top)}: {link} leads nowhere")
print("\n".join(bad))
sys.exit(len(bad) > 0)
PY
}
