"""The profiler as tt-torch's tool is called: `tt_profile "command"`. It is `ttnn profile`, which runs in place of this."""

import argparse
import os
import subprocess

from ttnn import program

REPORT = "device_ops_perf_trace.csv"
PORT = 8086


def _arguments(test_command, output_path=None, port=None):
    """Of `ttnn profile`."""
    output = ["-o", os.fspath(output_path)] if output_path else []
    return ["profile", *output, *(["-p", str(port)] if port is not None else []), "--", test_command]


def tt_profile(test_command, output_filename=REPORT, port=PORT):
    """Profiles a command; the exit code of `ttnn profile`. The usual port means "or the next free one", as it does upstream."""
    asked = _arguments(test_command, output_filename, None if port == PORT else port)
    return subprocess.run([program.path(), *asked]).returncode


def main(arguments=None, prog="tt_profile"):
    usage = f'{prog} [-h] [-o OUTPUT_PATH] [-p PORT] "test_command"'
    parser = argparse.ArgumentParser(prog=prog, usage=usage, description="Profiles a command with all its processes.")
    parser.add_argument("test_command", help="the command, which must be quoted")
    parser.add_argument("-o", "--output_path", "--output-path", help=f"the report, below results/perf unless absolute (default: {REPORT})")
    parser.add_argument("-p", "--port", type=int, help=f"the port of the server (default: {PORT}, or the next free one)")
    given, more = parser.parse_known_args(arguments)
    if more:
        quoted = f'must be quoted: {prog} "{given.test_command} {more[0]} ..."'
        if not more[0].startswith("-"):
            parser.error(f"the test command {quoted}")
        own = "" if " " in given.test_command else f"; an option of the command {quoted}"
        parser.error(f"unknown option '{more[0]}'{own}")
    program.become(*_arguments(given.test_command, given.output_path, given.port))


if __name__ == "__main__":
    main()
