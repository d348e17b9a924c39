"""Opens timelines in Perfetto's page and compares what its trace processor says of them with `ttnn show`."""

import contextlib
import functools
import glob
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

TTNN, PAGES, BROWSER = sys.argv[1:]

WORKLOAD = """
import threading, tracy, ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.full((64, 64), 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
def work(count):
    for i in range(count):
        b = ttnn.matmul(ttnn.add(a, a), a)
threads = [threading.Thread(target=work, args=(20 + i,)) for i in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
tracy.signpost("end", "of it")
"""
QUERIES = {
    "calls": "select name, count(*), sum(dur) from slice where name like 'ttnn::%' group by name",
    "slices": "select 'all', count(*), 0 from slice where name not in ('launch', 'end')",
    "programs": "select name, count(*), sum(dur) from slice where coalesce(extract_arg(arg_set_id, 'debug.kernel_ns'),"
    " extract_arg(arg_set_id, 'args.kernel_ns')) > 0 group by name",
    "flows": "select 'all', count(*), 0 from flow",
    "memory": "select 'peak', count(*), cast(max(value) as int) from counter",
    "mistakes": "select name, value, 0 from stats where severity in ('error', 'data_loss') and value > 0",
}
ASK = """(async () => {
    const result = await app.trace.engine.query(%s), columns = result.columns(), rows = [];
    for (const it = result.iter({}); it.valid(); it.next()) rows.push(columns.map(c => String(it.get(c))));
    return rows;
})()"""


class Browser:
    """A page that is told what to do through pipes: Chrome's own protocol."""

    def __init__(self, folder):
        to, self.writing = os.pipe()
        self.reading, of = os.pipe()
        line = f'exec "{BROWSER}" --headless --no-sandbox --disable-gpu --remote-debugging-pipe --user-data-dir="{folder}" about:blank 3<&{to} 4>&{of}'
        self.process = subprocess.Popen(["sh", "-c", line], pass_fds=(to, of), stderr=subprocess.DEVNULL)
        os.close(to)
        os.close(of)
        self.number, self.session, self.rest = 0, None, b""
        pages = self.call("Target.getTargets")["targetInfos"]
        target = next(page["targetId"] for page in pages if page["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                self.rest += os.read(self.reading, 1 << 20)
            text, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self.number:
                return answer["result"]

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)["result"].get("value")

    def open(self, url):
        self.call("Page.navigate", url=url)
        end = time.monotonic() + 120
        while self.value("typeof app !== 'undefined' && !!app.trace") is not True:
            assert time.monotonic() < end, "the page does not open the file"
            time.sleep(0.5)

    def ask(self, query):
        rows = self.value(ASK % json.dumps(query))
        return {row[0]: (int(row[1]), int(row[2])) for row in rows}

    def close(self):
        self.process.kill()
        self.process.wait()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def show(trace, *options):
    done = subprocess.run([TTNN, "show", *options, trace], check=True, capture_output=True, text=True)
    return [line.split() for line in done.stdout.splitlines()[1:]]


def compare(name, answers, trace):
    """What the page says against what we say."""
    table = {row[0]: (int(row[1]), float(row[2])) for row in show(trace)}
    for operation, (calls, total) in table.items():
        seen, ns = answers["calls"][operation]
        assert seen == calls and abs(ns / 1000 - total) < 0.06, (name, operation, seen, ns, calls, total)
    assert answers["programs"]["MatmulDeviceOperation"][0] == answers["programs"]["BinaryNgDeviceOperation"][0] == 63
    assert answers["flows"]["all"][0] == 126
    assert answers["memory"]["peak"][1] == max(int(row[-2]) for row in show(trace, "--memory"))
    assert not answers["mistakes"], answers["mistakes"]


def main():
    with tempfile.TemporaryDirectory() as work, contextlib.ExitStack() as stack:
        env = {**os.environ, "TTNN_TRACE": work, "TTNN_TRACE_OPTIONS": "profile"}
        subprocess.run([sys.executable, "-c", WORKLOAD], env=env, check=True)
        (trace,) = glob.glob(work + "/*.ttrace")
        www = os.path.join(work, "www")
        shutil.copytree(PAGES, www)
        handler = functools.partial(Quiet, directory=www)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        stack.callback(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_port}"
        browser = Browser(os.path.join(work, "browser"))
        stack.callback(browser.close)
        slices = set()
        for form in ("perfetto", "chrome"):
            subprocess.run([TTNN, "export", form, "-o", os.path.join(www, form), trace], check=True)
            browser.open(f"{place}/index.html?{form}#!/?url={place}/{form}")
            answers = {name: browser.ask(query) for name, query in QUERIES.items()}
            compare(form, answers, trace)
            slices.add(answers["slices"]["all"][0])
            print(f"ok {form}: {answers['slices']['all'][0]} slices, {answers['flows']['all'][0]} arrows")
        assert len(slices) == 1, slices
    print("2 passed, 0 failed")


main()
