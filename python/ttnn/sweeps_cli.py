"""The commands of the sweep framework: generate() writes vector files, run() runs them, with upstream's options. Unique prefixes
of options are accepted. Docs: docs/sweep-modules.md."""

import argparse
import json
import os
import pathlib
import random
import signal
import sys
import time

from ttnn import _ttnn, sweeps

TIMED_OUT = "TEST TIMED OUT (CRASH / HANG)"
SKIPPED = "SKIPPED DUE TO PREVIOUS TIMEOUT"
ROOM = 8192  # bytes of a child's answer


def say(*words):
    """At once: children are forked from this process, and would print again what waits."""
    print("SWEEPS -", *words, flush=True)


def packed(answer):
    """In as many bytes as a child's answer may have: the longest text, mostly its message, is cut."""
    while True:
        text = json.dumps(answer, default=str, ensure_ascii=False).encode("utf-8", "replace")
        if len(text) <= ROOM:
            return text
        texts = {key: value for key, value in answer.items() if isinstance(value, str)}
        longest = max(texts, key=lambda key: len(texts[key]))
        answer[longest] = texts[longest][: len(texts[longest]) * 3 // 4]


def _modules(folder, given):
    """Those of --module-name or all, without those of --skip-modules."""
    if given.module_name:
        found, unknown = folder.find(given.module_name)
        for name in unknown:
            say(f"There is no module {name} in {folder.sweeps}.")
        return found
    skipped = {name.strip() for name in (given.skip_modules or "").split(",")}
    return [name for name in folder.names() if name not in skipped]


# ---- the generator


def _generator_options():
    parser = argparse.ArgumentParser(description="Writes the vectors of sweep modules to vectors_export/MODULE.json.")
    parser.add_argument("--module-name", help="modules, folders of modules or operations, separated by commas; else all")
    parser.add_argument("--suite-name", help="only this suite")
    parser.add_argument("--skip-modules", help="modules to leave out when none is named, separated by commas")
    parser.add_argument("--model-traced", nargs="?", const="all", help="only the modules of traced operations")
    parser.add_argument("--tag", default=os.environ.get("USER"), help="written into each vector; default: $USER")
    parser.add_argument("--explicit", action="store_true", help="needed for the tag ci-main")
    parser.add_argument("--randomize", type=int, metavar="SEED", help="shuffle the vectors of a suite")
    parser.add_argument("--dump-file", action="store_true", help="nothing: files are always written")
    parser.add_argument("--output-dir", help="instead of tests/sweep_framework/vectors_export")
    return parser


def _generate_suite(folder, module, name, suite, given):
    made = sweeps.generate(module, name, suite)
    if given.randomize is not None:
        random.Random(given.randomize).shuffle(made)
    path = pathlib.Path(given.output_dir) / f"{name}.json" if given.output_dir else folder.file(name)
    saved = json.loads(_ttnn.sweep.save(path, sweeps.suite_text(name, suite, made, given.tag)))
    if saved["moved"]:
        say(f"{path} was no vector file: it is {saved['moved']} now.")
    say(f"Generated {len(made)} test vectors for suite {suite}.")
    return saved["count"]


def _generate_module(folder, name, given):
    say(f"Generating test vectors for module {name}.")
    module = folder.load(name)
    wanted = [suite for suite in sweeps.suites(module) if not given.suite_name or suite == given.suite_name]
    if not sweeps.is_sweep(module):
        say(f"{name} is no sweep module: it has no parameters or no run().")
    count = sum(_generate_suite(folder, module, name, suite, given) for suite in wanted)
    if not count:
        say(f"{name} HAS NO VECTORS.")
    return count


def generate(base, arguments=None):
    """Returns the exit code."""
    given = _generator_options().parse_args(arguments)
    folder = sweeps.Folder(base)
    if given.tag == "ci-main" and not given.explicit:
        say("The tag ci-main must be asked for with --explicit.")
        return 1
    names = _modules(folder, given)
    if given.model_traced:
        names = [name for name in names if name.startswith("model_traced.")]
    count = 0
    for name in names:
        try:
            count += _generate_module(folder, name, given)
        except Exception as error:
            if given.module_name:
                raise
            say(f"{name}: {type(error).__name__}: {error}")
    say(f"{count} vectors of {len(names)} modules in {given.output_dir or folder.vectors}.")
    return 0 if count else 1


# ---- the runner


def _runner_options():
    parser = argparse.ArgumentParser(description="Runs the vectors of sweep modules, each in a child process.")
    parser.add_argument("--module-name", help="modules, folders of modules or operations, separated by commas; else all")
    parser.add_argument("--suite-name", help="only this suite")
    parser.add_argument("--vector-source", required=True, choices=("file", "vectors_export", "elastic"))
    parser.add_argument("--file-path", help="the vector file of --vector-source file")
    parser.add_argument("--vector-id", help="only the vector with this hash, in this process")
    parser.add_argument("--result-dest", required=True, choices=("results_export", "superset", "elastic"))
    parser.add_argument("--result-dir", help="instead of tests/sweep_framework/results_export")
    parser.add_argument("--database", help="of its rows: a file or postgresql://USER@HOST/NAME; default: results.sqlite there")
    parser.add_argument("--tag", help="accepted: vectors of files are run whatever their tag")
    parser.add_argument("--skip-modules", help="modules to leave out when none is named, separated by commas")
    parser.add_argument("--skip-on-timeout", action="store_true", help="leave the rest of a suite out after a time-out")
    parser.add_argument("--keep-invalid", action="store_true", help="results for invalid vectors too: skipped")
    parser.add_argument("--summary", action="store_true", help="how many results there are of each status")
    parser.add_argument("--fail-on-test-failure", action="store_true", help="exit with 1 when a vector failed")
    parser.add_argument("--watcher", action="store_true", help="accepted: there is no watcher without a card")
    perf = parser.add_mutually_exclusive_group()
    perf.add_argument("--perf", dest="perf", action="store_const", const="once", help="how long each vector took")
    perf.add_argument("--perf-with-cache", dest="perf", action="store_const", const="cached", help="the same, twice")
    parser.add_argument("--device-perf", action="store_true", help="refused for each vector: there is no card to measure")
    parser.add_argument("--dry-run", action="store_true", help="only say what would run")
    parser.add_argument("--main-proc-verbose", action="store_true", help="in this process, with no limit of time")
    return parser


def _check(given):
    """What is wrong with the options, or None."""
    if "elastic" in (given.vector_source, given.result_dest):
        return "Elasticsearch is not there: use --vector-source vectors_export or file, and --result-dest results_export."
    if given.vector_source == "file" and not (given.file_path and given.module_name):
        return "--vector-source file needs --file-path and --module-name."
    if given.vector_source != "file" and given.file_path:
        return "--file-path goes with --vector-source file."
    if given.vector_id and not given.module_name:
        return "--vector-id needs --module-name."
    if given.skip_modules and given.module_name:
        return "--skip-modules goes without --module-name."
    return None


class Runner:
    def __init__(self, folder, given, recorder):
        self.folder, self.given, self.recorder = folder, given, recorder
        self.ran = self.failed = 0

    def vectors(self, name):
        """Those of a module that are wanted, by suite."""
        path = pathlib.Path(self.given.file_path) if self.given.file_path else self.folder.file(name)
        if not path.exists() and not self.given.file_path:
            say(f"{name} has no vectors: {path} is made by sweeps_parameter_generator.py.")
            return {}
        found = {}
        for entry in json.loads(_ttnn.sweep.load(path)):
            entry["module"] = entry["module"] or name
            wanted = not self.given.vector_id or entry["hash"] == self.given.vector_id
            if wanted and entry["module"] == name and self.given.suite_name in (None, entry["suite"]):
                found.setdefault(entry["suite"], []).append(entry)
        if not found:
            say(f"{name} has no such vectors in {path}" + (f": suite {self.given.suite_name}." if self.given.suite_name else "."))
        return found

    def note(self, status):
        self.ran += status not in ("skipped", None)
        self.failed += status not in ("pass", "xfail", "skipped")
        return status

    def suite(self, name, suite, entries):
        say(f"Executing {len(entries)} vectors of module {name}, suite {suite}.")
        if self.given.dry_run:
            for entry in entries:
                say(f"Would run {entry['hash']}{' (invalid)' if entry['invalid'] else ''}")
            self.ran += len(entries)
            return
        executor = sweeps.Executor(self.folder, name, perf=self.given.perf)
        if self.given.vector_id or self.given.main_proc_verbose:
            self.here(executor, entries)
        else:
            self.in_children(executor, entries, self.folder.timeout(name))

    def skip(self, entry):
        """Whether a vector is not run at all."""
        if entry["invalid"] and self.given.keep_invalid:
            self.note(self.recorder.skipped(entry, f"INVALID VECTOR: {entry['reason']}"))
        return entry["invalid"]

    def took_end(self, entry, answer):
        if self.given.device_perf and answer["passed"]:
            times = {key: answer[key] for key in ("message", "begin_ns", "end_ns")}
            why = "there is no card whose profile could be read"
            return self.note(self.recorder.add(entry, status="fail_unsupported_device_perf", exception=why, **times))
        return self.note(self.recorder.ran(entry, answer))

    def here(self, executor, entries):
        for entry in entries:
            if not self.skip(entry):
                answer = executor.run(entry["params"])
                print(answer.get("trace", ""), end="", flush=True)
                say(entry["hash"], self.took_end(entry, answer), answer["message"])
        executor.close()

    def in_children(self, executor, entries, timeout):
        """Children are reused until one dies. After a time-out with --skip-on-timeout the others are skipped."""
        left = [entry for entry in entries if not self.skip(entry)]
        handled = set()
        began = time.time_ns()
        late = False

        def work(number):
            answer = executor.run(left[number]["params"])
            sys.stdout.flush()
            sys.stderr.flush()
            answer.pop("trace", None)
            return packed(answer)

        def done(number, end, answer, died_of, code):
            nonlocal began, late
            entry = left[number]
            if end == "answered" and answer:
                found = json.loads(answer)
                status = self.took_end(entry, found)
                late = late or (status != "pass" and "DEVICE EXCEPTION" in found["message"])
            else:
                why = TIMED_OUT if end == "hung" else _died(died_of, code)
                status = self.note(self.recorder.hung(entry, began, why))
                late = late or (end == "hung" and self.given.skip_on_timeout)
            began = time.time_ns()
            handled.add(number)
            return not late

        sys.stdout.flush()
        sys.stderr.flush()
        _ttnn.sweep.work(len(left), 1, float(timeout), 0, work, done)
        if late and self.given.skip_on_timeout:
            unhandled = [entry for number, entry in enumerate(left) if number not in handled]
            invalid = [entry for entry in entries if entry["invalid"] and not self.given.keep_invalid]
            for entry in unhandled + invalid:
                self.note(self.recorder.skipped(entry, SKIPPED))


def _died(died_of, code):
    if died_of:
        return f"TEST CRASHED: its process was ended by {signal.Signals(died_of).name}"
    return f"TEST CRASHED: its process ended with code {code}"


def run(base, arguments=None):
    """Returns the exit code."""
    given = _runner_options().parse_args(arguments)
    folder = sweeps.Folder(base)
    wrong = _check(given)
    if wrong:
        say(wrong)
        return 2
    names = _modules(folder, given)
    if not names:
        say("NO MODULE IS THERE TO RUN.")
        return 1
    contents = ", ".join(part for part in (given.module_name, given.suite_name) if part) or "all_sweeps"
    recorder = None if given.dry_run else sweeps.Recorder(folder, contents, given.result_dir, given.database)
    runner = Runner(folder, given, recorder)
    try:
        for name in names:
            for suite, entries in runner.vectors(name).items():
                runner.suite(name, suite, entries)
    except KeyboardInterrupt:
        say("Interrupted." + (f" Results so far: {recorder.finish('exception')}" if recorder else ""))
        return 130
    return _finish(runner, given, recorder)


def _finish(runner, given, recorder):
    counts = recorder.counts if recorder else {}
    if recorder:
        say(f"Results: {recorder.finish()}")
    if given.summary:
        for status, count in sorted(counts.items()):
            say(f"{status}: {count}")
    say(f"{runner.ran} vectors ran, {runner.failed} failed." if not given.dry_run else f"{runner.ran} vectors would run.")
    if not runner.ran and not counts:
        say("NO VECTOR WAS RUN.")
        return 1
    return 1 if given.fail_on_test_failure and runner.failed else 0
