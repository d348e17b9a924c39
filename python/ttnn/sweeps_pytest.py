"""Sweep modules as tests: `pytest FILE` of a file in tests/sweep_framework/sweeps runs its vectors as test_sweep[SUITE-0] and so on,
and writes the results that sweeps_runner.py would. Part of the package's pytest plugin."""

import json

import pytest


class SweepModule(pytest.Module):
    """A module whose `parameters` and `run()` are tests."""

    sweep = None

    def collect(self):
        from ttnn import sweeps

        folder = sweeps.Folder.around(self.path)
        capture = self.config.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled():  # how many configurations there are is said as they are loaded
            print(flush=True)
            module = self.obj
            tests = list(super().collect())
            if folder and sweeps.is_sweep(module):
                name = folder.name(self.path)
                self.sweep = sweeps.Executor(folder, name, module)
                for suite in sweeps.suites(module):
                    tests += self._suite(sweeps, module, name, suite)
        return tests

    def _suite(self, sweeps, module, name, suite):
        from ttnn import _ttnn

        made = sweeps.generate(module, name, suite)
        text = sweeps.suite_text(name, suite, made)
        print(f"\nSWEEPS - Generated {len(made)} test vectors for suite {suite}.", flush=True)
        entries = {entry["hash"]: entry for entry in json.loads(_ttnn.sweep.vectors(text))}
        items = []
        for number, entry in enumerate(entries.values()):
            item = SweepItem.from_parent(self, name=f"test_sweep[{suite}-{number}]")
            item.entry = entry
            items.append(item)
        return items

    def teardown(self):
        if self.sweep:
            self.sweep.close()
        super().teardown()


class SweepItem(pytest.Item):
    """One vector."""

    entry = None
    fixturenames = ()

    def runtest(self):
        entry = self.entry
        if entry["invalid"]:
            pytest.skip(f"INVALID VECTOR: {entry['reason']}")
        answer = self.parent.sweep.run(entry["params"])
        status = recorder(self.config, self.session).ran(entry, answer)
        if status == "xfail":
            pytest.xfail(answer["message"])
        if status == "xpass":
            pytest.fail("it passed, in a suite that is expected to fail", pytrace=False)
        if status != "pass":
            pytest.fail(answer.get("trace") or answer["message"], pytrace=False)

    def reportinfo(self):
        return self.path, None, f"{self.parent.sweep.name} {self.entry['hash']}"


_RECORDER = pytest.StashKey()


def recorder(config, session):
    """The results of this run of pytest, begun with the first vector."""
    if _RECORDER not in config.stash:
        from ttnn import sweeps

        items = [item for item in session.items if isinstance(item, SweepItem)]
        names = list(dict.fromkeys(item.entry["module"] for item in items))
        found = list(dict.fromkeys(item.entry["suite"] for item in items))
        contents = ", ".join(names[:1] + found if len(names) == 1 and len(found) == 1 else names)
        config.stash[_RECORDER] = sweeps.Recorder(items[0].parent.sweep.folder, contents)
    return config.stash[_RECORDER]


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path, parent):
    """Only files that are named on the command line come here, or that look like tests."""
    if module_path.name == "__init__.py" or "sweeps" not in module_path.parts:
        return None
    from ttnn import sweeps

    return SweepModule.from_parent(parent, path=module_path) if sweeps.Folder.around(module_path) else None


def pytest_sessionfinish(session, exitstatus):
    if _RECORDER in session.config.stash:
        ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        session.config.stash[_RECORDER].finish("passed" if ended else "exception")
        del session.config.stash[_RECORDER]
