#!/usr/bin/env python3
"""Shows the configurations of operations that were traced (`ttnn configs show|list|stats`).

    python model_tracer/analyze_operations.py sigmoid_accurate
    python model_tracer/analyze_operations.py --list
"""

import argparse

from ttnn import program


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("operation", nargs="?", help="its name: add, ttnn.add, ttnn::add, experimental.x")
    parser.add_argument("--list", action="store_true", help="only the names of all operations")
    parser.add_argument("--stats", action="store_true", help="numbers about the whole file")
    parser.add_argument("--brief", action="store_true", help="only how many configurations there are")
    parser.add_argument("--debug", action="store_true", help="also arguments that say nothing")
    parser.add_argument("--master-file", metavar="PATH", help="the file; else that of the working directory")
    parser.add_argument("--format", choices=("seed", "classic"), help="as the guide shows it, or as tt-metal's tool prints")
    given = parser.parse_args()
    command = "stats" if given.stats else "list" if given.list else "show"
    options = [f"--{name}" for name in ("brief", "debug") if command == "show" and getattr(given, name)]
    if given.format:
        options += ["--format", given.format]
    if given.master_file:
        options += ["--master", given.master_file]
    program.become("configs", command, *options, *([given.operation] if command == "show" and given.operation else []))


if __name__ == "__main__":
    main()
