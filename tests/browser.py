#!/usr/bin/env python3
"""browser.py PAGE [--shots PREFIX]: looks at a page in headless Chromium, on a telephone and on a desk, light and dark, and as printed.

Prints one JSON object: "requests" (all that it asked for but itself), "errors" (of console, page and security policy), "elements"
(how many there are of each tag), "text" (what is seen), and "looks": [{"width", "as": light, dark or print, "overflow": by how many
pixels the page is wider than the window, "cut": [tables that are wider than their place], "small": texts below 10 pixels, "pale":
[texts with too little contrast]}]. With --shots also pictures,
PREFIX-WIDTH-light.png and so on. The protocol is that of the browser's developer tools, over a pipe."""
import base64, json, os, pathlib, shutil, subprocess, sys, tempfile

LOOKS = [(390, 844, "light"), (390, 844, "dark"), (1200, 900, "light"), (1440, 900, "light"), (1440, 900, "dark"), (720, 1000, "print")]

MEASURE = """(() => {
  const seen = [...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && !e.closest('svg') &&
      [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()));
  const parts = c => { const v = c.match(/[\\d.]+/g).map(Number); return v.length > 3 && v[3] == 0 ? null : v.slice(0, 3); };
  const light = c => c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
      .reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const ground = e => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor); if (c) return c; }
      return matchMedia('(prefers-color-scheme: dark)').matches ? [0, 0, 0] : [255, 255, 255]; };
  const contrast = e => { const a = light(parts(getComputedStyle(e).color)), b = light(ground(e));
      return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); };
  return { overflow: document.documentElement.scrollWidth - innerWidth,
           cut: [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.ariaLabel),
           small: seen.filter(e => parseFloat(getComputedStyle(e).fontSize) < 10).length,
           pale: seen.filter(e => contrast(e) < 4.5).slice(0, 5).map(e => e.textContent.slice(0, 40)) };
})()"""

COUNT = """(() => { const n = {}; for (const e of document.querySelectorAll('*')) n[e.localName] = (n[e.localName] || 0) + 1;
                   return { elements: n, text: document.body.innerText }; })()"""


class Browser:
    def __init__(self, program, profile):
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        # the pipe's ends are to be 3 and 4 there
        shell = 'exec "$@" 3<&%d 4>&%d' % (to_read, back_write)
        self.process = subprocess.Popen(
            ["sh", "-c", shell, "sh", program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars", "--user-data-dir=" + profile,
             "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_read, back_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(back_write)
        self.buffer, self.n, self.events, self.session = b"", 0, [], None

    def read(self):
        while b"\0" not in self.buffer:
            more = os.read(self.back, 1 << 20)
            if not more:
                raise EOFError("the browser ended")
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, **params):
        self.n += 1
        request = {"id": self.n, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.n:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.read())

    def attach(self):
        target = next(t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(domain + ".enable")

    def evaluate(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"]["value"]

    def close(self):
        os.close(self.to)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def look(browser, width, height, kind, shots):
    browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
    browser.ask("Emulation.setEmulatedMedia", media="print" if kind == "print" else "screen",
                features=[{"name": "prefers-color-scheme", "value": "dark" if kind == "dark" else "light"}])
    result = {"width": width, "as": kind, **browser.evaluate(MEASURE)}
    if shots:
        size = browser.ask("Page.getLayoutMetrics")["cssContentSize"]
        shot = browser.ask("Page.captureScreenshot", captureBeyondViewport=True,
                           clip={"x": 0, "y": 0, "width": width, "height": min(size["height"], 6000), "scale": 1})
        pathlib.Path("%s-%d-%s.png" % (shots, width, kind)).write_bytes(base64.b64decode(shot["data"]))
    return result


def problems(events):
    for e in events:
        p = e.get("params", {})
        if e.get("method") == "Runtime.exceptionThrown":
            yield str(p["exceptionDetails"])
        elif e.get("method") == "Runtime.consoleAPICalled":
            yield str(p["args"])
        elif e.get("method") == "Log.entryAdded":
            yield p["entry"]["text"]


def main():
    page = pathlib.Path(sys.argv[1]).resolve().as_uri()
    shots = sys.argv[3] if sys.argv[2:3] == ["--shots"] else None
    program = shutil.which("chromium") or shutil.which("chromium-browser") or sys.exit("no chromium here")
    profile = tempfile.mkdtemp(prefix="expfs-browser-")
    browser = Browser(program, profile)
    try:
        browser.attach()
        browser.ask("Page.navigate", url=page)
        browser.wait("Page.loadEventFired")
        looks = [look(browser, *how, shots) for how in LOOKS]
        result = browser.evaluate(COUNT)
        asked = [e["params"]["request"]["url"] for e in browser.events if e.get("method") == "Network.requestWillBeSent"]
        result["requests"] = [url for url in asked if url != page]
        result["errors"] = list(problems(browser.events))
        result["looks"] = looks
        print(json.dumps(result))
    finally:
        browser.close()
        shutil.rmtree(profile, ignore_errors=True)


if __name__ == "__main__":
    main()
