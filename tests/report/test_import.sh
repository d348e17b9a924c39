#!/usr/bin/env bash
# Databases of `ttnn import` against recorded ones and against a slow reference. @slow
set -eu
python=${PYTHON:-python3}
$python -c 'import sqlite3' 2>/dev/null || { echo "no $python with sqlite3" && exit 77; }
export PYTHONDONTWRITEBYTECODE=1
$python tests/report/check.py "$OUT/ttnn" recorded
$python tests/report/check.py "$OUT/ttnn" reference
$python tests/report/malformed.py "$OUT/ttnn"
