"""check.py BUNDLE.zip PASSWORD_FILE: Apache Superset imports a bundle and answers each of its charts, through its own API.

Runs in Superset's own Python, with SUPERSET_CONFIG_PATH set by tests/superset/run, which made its metadata before. The server
is Superset's own, on a free port of the loopback device. Prints a line for each chart; exit code 1 when one has no rows.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from http.cookiejar import CookieJar

WANTED = {
    "Pass rate over runs",
    "Failures by operation",
    "Failures by model",
    "PCC distribution",
    "Durations",
    "Slowest vectors",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Superset:
    """A server and a session with it."""

    def __init__(self, port):
        self.base = f"http://127.0.0.1:{port}"
        self.headers = {}
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def ask(self, path, data=None, content_type="application/json"):
        if data is not None and content_type == "application/json":
            data = json.dumps(data).encode()
        headers = dict(self.headers)
        if data is not None:
            headers["Content-Type"] = content_type
        request = urllib.request.Request(self.base + path, data=data, headers=headers)
        try:
            with self.opener.open(request, timeout=120) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise SystemExit(f"superset: {path}: {error.code} {error.read().decode(errors='replace')[:2000]}") from None

    def wait(self, process):
        for _ in range(240):
            if process.poll() is not None:
                raise SystemExit(f"superset: the server ended with exit code {process.returncode}")
            try:
                with self.opener.open(self.base + "/health", timeout=5):
                    return
            except OSError:
                time.sleep(0.5)
        raise SystemExit("superset: the server does not answer")

    def log_in(self, password):
        login = {"username": "admin", "password": password, "provider": "db", "refresh": False}
        self.headers["Authorization"] = "Bearer " + self.ask("/api/v1/security/login", login)["access_token"]
        self.headers["X-CSRFToken"] = self.ask("/api/v1/security/csrf_token/")["result"]
        self.headers["Referer"] = self.base

    def import_bundle(self, path):
        mark = uuid.uuid4().hex
        with open(path, "rb") as bundle:
            content = bundle.read()
        body = (
            f"--{mark}\r\nContent-Disposition: form-data; name=\"formData\"; filename=\"bundle.zip\"\r\n"
            "Content-Type: application/zip\r\n\r\n"
        ).encode()
        body += content + f"\r\n--{mark}\r\nContent-Disposition: form-data; name=\"overwrite\"\r\n\r\ntrue".encode()
        body += f"\r\n--{mark}--\r\n".encode()
        self.ask("/api/v1/dashboard/import/", body, f"multipart/form-data; boundary={mark}")


def check(server, bundle, password):
    server.log_in(password)
    server.import_bundle(bundle)
    server.import_bundle(bundle)  # once more changes nothing
    dashboards = server.ask("/api/v1/dashboard/")["result"]
    assert [d["dashboard_title"] for d in dashboards] == ["ttnn sweeps"], dashboards
    shown = {c["slice_name"] for c in server.ask(f"/api/v1/dashboard/{dashboards[0]['id']}/charts")["result"]}
    assert shown == WANTED, f"the dashboard shows {shown}"
    charts = server.ask("/api/v1/chart/")["result"]
    assert {c["slice_name"] for c in charts} == WANTED and len(charts) == len(WANTED), charts
    failed = 0
    for chart in sorted(charts, key=lambda c: c["slice_name"]):
        answer = server.ask(f"/api/v1/chart/{chart['id']}/data/?force=true")["result"][0]
        rows = answer["data"]
        good = answer["status"] == "success" and rows
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {chart['slice_name']}: {len(rows)} rows, first {rows[:1]} {answer.get('error') or ''}")
    print(f"{len(charts) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    bundle, password_file = sys.argv[1:]
    with open(password_file, encoding="utf-8") as file:
        password = file.read().strip()
    port = free_port()
    superset = os.path.join(os.path.dirname(sys.executable), "superset")
    with open(os.path.join(os.path.dirname(password_file), "server.log"), "w", encoding="utf-8") as log:
        process = subprocess.Popen([superset, "run", "-h", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log)
        try:
            server = Superset(port)
            server.wait(process)
            return check(server, bundle, password)
        finally:
            process.terminate()
            process.wait(30)


if __name__ == "__main__":
    sys.exit(main())
