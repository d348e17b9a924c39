"""Reports become databases for ttnn-visualizer.

    python -m ttnn.graph_report REPORT|TRACE|DIR OUTPUT_DIR [--db-name NAME] [--svg]

The work is done by the library; `ttnn import` is the same command without Python.
"""

import argparse
import sys
from pathlib import Path

from ttnn import _ttnn
from ttnn.report_rows import (
    aggregate_pages_to_chunks as _aggregate_pages_to_chunks,
    compute_tensor_lifetime_records,
    create_database_schema,
    get_tt_metal_git_report_metadata,
    import_graph,
    innermost_stack_frame as _innermost_stack_frame,
    sanitize_git_remote_url,
    validate_graph_integrity as _validate_graph_integrity,
)
from ttnn.report_fixture import derive_report_name, run_pytest_graph_report_fixture

SUPPORTED_REPORT_VERSION = 1
DATABASE_SCHEMA_VERSION = "3.5"
PYTHON_IO_SIDECAR_SUFFIX = ".python_io.json"
COMPARISON_RECORDS_SIDECAR_SUFFIX = ".comparison_records.json"
COMPARISON_RECORDS_FALLBACK_NAME = "comparison_records.json"
_OPERATION_ID_STRIDE_PER_RANK_FILE = 10000  # as the library numbers operations of a rank's second file


def _import(report_path, output_dir, db_name, generate_svgs, **options):
    given = options.get("schema"), options.get("strict", False), options.get("tables", False)
    return _ttnn.import_report(report_path, output_dir, db_name, *given, generate_svgs)


def import_report(report_path, output_dir, db_name="db.sqlite", generate_svgs=False, **options):
    """Imports a report or a trace, or all of a folder; returns the path of the database.

    Broken files of a folder are left out and named, in an error once the others are imported.
    """
    _, fault = _import(report_path, output_dir, db_name, generate_svgs, **options)
    if fault:
        raise RuntimeError(fault)
    return Path(output_dir) / db_name


def extract_total_duration_from_graph(graph):
    """Seconds of the whole capture."""
    ends = [node for node in graph if node.get("node_type") == "capture_end"]
    return ends[-1].get("duration_ns", 0) / 1e9 if ends else 0.0


def extract_operation_durations(graph):
    """Seconds of each function, by its name; the last call counts."""
    return {
        (node.get("params") or {}).get("name", "unknown"): node.get("duration_ns", 0) / 1e9
        for node in graph
        if node.get("node_type") == "function_end"
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m ttnn.graph_report", description="Import graph capture reports into a ttnn-visualizer database"
    )
    parser.add_argument("report_path", help="JSON report file or directory containing reports")
    parser.add_argument("output_dir", help="Directory to create the SQLite database in")
    parser.add_argument("--db-name", default="db.sqlite", help="Database file name")
    parser.add_argument("--svg", action="store_true", help="Generate SVG visualizations")
    given = parser.parse_args(arguments)
    try:
        summary, fault = _import(given.report_path, given.output_dir, given.db_name, given.svg)
    except RuntimeError as error:
        sys.exit(f"ttnn: {error}")
    print(summary)
    if fault:
        sys.exit(f"ttnn: {fault}")


if __name__ == "__main__":
    main()
