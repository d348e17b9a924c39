"""Every configuration that was traced from real models, swept: counts and time."""
import json
import os
import subprocess
import tempfile

MASTER = "tests/data/master/master_2025-11.json.gz"


def test_all_configurations_of_real_models():
    with tempfile.TemporaryDirectory() as work:
        run = subprocess.run(
            [f"{os.environ.get('OUT', 'build')}/ttnn", "sweep", "run", "--master", MASTER, "--json", "-q", "-o", work],
            capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
        totals = json.loads(run.stdout)
        assert totals["vectors"] == totals["executed"] == 1079
        assert totals["failed"] == 0 and totals["statuses"] == {"pass": 1079}
        assert totals["passed"] == {"plain": 857, "stand-in": 217, "moved": 5, "unjudged": 0}
        assert totals["seconds"] < 15 * 60
