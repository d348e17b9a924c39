"""ttnn-visualizer as a process: on loopback, with all its files in a folder of ours."""

import http.client
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path


class Server:
    """with Server(program, folder) as server: server.load(report); server.ask("/api/...")"""

    def __init__(self, program, folder):
        self.program, self.folder = str(Path(program).absolute()), Path(folder).resolve()
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def ask_raw(self, path, body=None, seconds=300):
        """Status and bytes."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"} if data else {})
        try:
            with urllib.request.urlopen(request, timeout=seconds) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, b""

    def ask(self, path, body=None, seconds=300):
        status, answer = self.ask_raw(path, body, seconds)
        return status, json.loads(answer or b"null")

    def load(self, report, performance=None):
        """Opens a folder with a database, and one with a performance report: the id for further questions, or None."""
        status, answer = self.ask("/api/instance/local-paths", {
            "profiler_path": str(Path(report).resolve()), "performance_path": performance and str(Path(performance).resolve())})
        return answer["instance_id"] if status == 200 else None

    def __enter__(self):
        leave = ("TT_METAL_HOME", "SERVER_MODE", "BASE_PATH", "HOST", "PORT", "PYTHONPATH")
        environment = {k: v for k, v in os.environ.items() if k not in leave}
        environment.update(HOME=str(self.folder), APP_DATA_DIRECTORY=str(self.folder / "app"), REPORT_DATA_DIRECTORY=str(self.folder / "reports"),
                           LAUNCH_BROWSER_ON_START="false", USAGE_RECORDING_DISABLED="true", GUNICORN_TIMEOUT="900")
        log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen([self.program, "--host", "127.0.0.1", "--port", str(self.port)], env=environment, stdout=log,
                                        stderr=log, start_new_session=True, cwd=self.folder)
        ends = time.monotonic() + 60
        while time.monotonic() < ends and self.process.poll() is None:
            try:
                if self.ask("/api/up", seconds=2)[0] == 200:
                    return self
            except (OSError, http.client.HTTPException, ValueError):
                pass  # not yet
            time.sleep(0.1)
        self.__exit__()
        print((self.folder / "log").read_text(errors="replace")[-2000:])
        raise SystemExit("ttnn-visualizer does not start")

    def signal(self, number):
        """To its workers too, which may outlive it."""
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def __exit__(self, *failure):
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            pass
        self.signal(signal.SIGKILL)
        self.process.wait()
