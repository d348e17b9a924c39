"""Traces of processes that never come to their end: workers, kills, exec. What they did is all in whole files."""

import glob
import json
import os
import subprocess
import sys
import textwrap

OUT = os.environ.get("OUT", "build")
TOOL = os.path.abspath(os.path.join(OUT, "ttnn"))
LONG = max(1, int(os.environ.get("TTNN_TEST_LONG", "1")))


def run(folder, text, *more):
    """The program under ttnn trace; its output."""
    program = folder / "program.py"
    program.write_text(textwrap.dedent(text))
    command = [TOOL, "trace", "-o", str(folder / "out"), "--", sys.executable, str(program), *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def traces(folder):
    """What each trace says of itself; nothing else is in the folder."""
    names = os.listdir(folder / "out")
    assert all(name.endswith(".ttrace") for name in names), names
    said = [subprocess.run([TOOL, "show", "--info", "--json", path], capture_output=True, text=True, check=True).stdout
            for path in glob.glob(str(folder / "out" / "*.ttrace"))]
    return [json.loads(one) for one in said]


WORK = """
    import multiprocessing, os, sys, time
    import ttnn

    def work(count):
        for i in range(count):
            ttnn.graph.track_function_start("work")
            ttnn.graph.track_function_end()
        return os.getpid()
"""


def test_workers_of_a_pool(tmp_path):
    """They are ended by signals or _exit(), and never by the end of a program."""
    text = WORK + """
    if __name__ == "__main__":
        how, tasks = sys.argv[1], 4
        with multiprocessing.get_context("fork").Pool(2) as pool:
            pids = pool.map(work, [250] * tasks, chunksize=1)
            if how == "close":
                pool.close()
                pool.join()
        print(len(set(pids)))
    """
    for how in ("terminate", "close") * LONG:
        folder = tmp_path / how
        folder.mkdir(exist_ok=True)
        for left in glob.glob(str(folder / "out" / "*")):
            os.remove(left)
        workers = int(run(folder, text, how))
        found = traces(folder)
        assert all(one["complete"] and not one["lost"] for one in found), found
        assert sum(one["operations"] for one in found) == 1000, found
        assert sum(one["operations"] > 0 for one in found) == workers, found


def test_a_program_that_becomes_itself(tmp_path):
    """exec() keeps the number of the process: each of its lives has a trace."""
    run(tmp_path, WORK + """
    life = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    work(10 + life)
    if life < 3:
        os.execv(sys.executable, [sys.executable, __file__, str(life + 1)])
    """)
    found = traces(tmp_path)
    assert sorted(one["operations"] for one in found) == [10, 11, 12, 13], found
    assert all(one["complete"] for one in found)


def test_children_that_are_killed(tmp_path):
    run(tmp_path, WORK + """
    for i in range(8):
        child = os.fork()
        if child == 0:
            work(i + 1)
            os.kill(os.getpid(), 9) if i % 2 else os._exit(0)
        os.waitpid(child, 0)
    """)
    found = traces(tmp_path)
    assert sorted(one["operations"] for one in found if one["operations"]) == [1, 2, 3, 4, 5, 6, 7, 8], found
    assert all(one["complete"] for one in found)


def test_without_standard_output(tmp_path):
    """What a program prints goes nowhere when that is closed, and never into its trace."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(WORK) + textwrap.dedent("""
    for i in range(50):
        work(1)
        for fd in range(3):
            try:
                os.write(fd, b"printed")
                sys.exit(1)
            except OSError:
                pass
    """))
    done = subprocess.run(["sh", "-c", f'exec "$@" <&- >&- 2>&-', "sh", TOOL, "trace", "-q", "-o", str(tmp_path / "out"), "--",
                           sys.executable, str(program)], timeout=300)
    assert done.returncode == 0
    assert [one["operations"] for one in traces(tmp_path)] == [50]


def test_parameter_files_and_a_limit(tmp_path):
    """ulimit -f: a file that would be too large is missing, and the program goes on."""
    done = subprocess.run(["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", sys.executable, "-c", textwrap.dedent("""
    import ttnn
    device = ttnn.open_device(device_id=0)
    t = ttnn.zeros([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
    for i in range(5):
        t = ttnn.add(t, t)
    ttnn.close_device(device)
    print("ended")
    """)], capture_output=True, text=True, timeout=300, cwd=tmp_path, env={**os.environ, "TTNN_TRACE_PARAMS": "1"})
    assert done.returncode == 0 and done.stdout == "ended\n", (done.returncode, done.stderr)
