"""Records harvest.jsonl and meshes.jsonl from the released ttnn (0.81.1) on mock clusters.

    python record.py CLUSTERS OUT        CLUSTERS: tests/data/clusters

Needs the ttnn wheel and its environment (TT_METAL_RUNTIME_ROOT, TT_METAL_CACHE, a stand-in compiler); no card.
Every question is asked in a process of its own, because a process opens one cluster only. The other
files of this folder are what the same library tells about whole devices.
"""
import itertools
import json
import os
import pathlib
import sys
import tempfile

import ttnn


def ask(descriptor, question):
    """The answer of question() in a new process with this cluster; the text of what it raises."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        os.environ["TT_METAL_MOCK_CLUSTER_DESC_PATH"] = str(descriptor)
        try:
            answer = question()
        except RuntimeError as error:
            answer = {"error": str(error).split("info:\n")[-1].strip().split("\n")[0]}
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.wait()
    return json.loads(text)


def harvest(noc):
    device = ttnn.open_device(device_id=0)
    grid = device.compute_with_storage_grid_size()
    info = ttnn._ttnn.reports.get_device_info(device)
    last = device.worker_core_from_logical_core(ttnn.CoreCoord(info.num_x_cores - 1, info.num_y_cores - 1))
    workers = device.get_optimal_dram_bank_to_logical_worker_assignment(getattr(ttnn.NOC, f"NOC_{noc}"))
    return {
        "compute_grid": [grid.x, grid.y],
        "logical_grid": [info.num_x_cores, info.num_y_cores],
        "dram_banks": device.dram_grid_size().x,
        "dram_workers": [[c.x, c.y] for c in workers],
        "last_worker_core": [last.x, last.y],
    }


def record_harvest(clusters, out):
    """Every way to harvest up to two lines of cores, and every single DRAM channel of a Blackhole."""
    rows = []
    for arch, name, lines in (("wormhole_b0", "wormhole_N150", 10), ("blackhole", "blackhole_P150", 14)):
        for count in (0, 1, 2):
            for bits in itertools.combinations(range(lines), count):
                rows.append((arch, name, sum(1 << b for b in bits), 0))
    rows += [("blackhole", "blackhole_P100", 192, 1 << b) for b in range(8)]
    for noc, (arch, name, mask, dram) in itertools.product((0, 1), rows):
        text = (clusters / f"{name}.yaml").read_text()
        lines = [
            f"{line.split('harvest')[0]}harvest_mask: {mask}" if line.strip().startswith("harvest_mask") else
            f"{line.split('dram')[0]}dram_harvesting_mask: {dram}" if line.strip().startswith("dram_harvesting_mask") else line
            for line in text.split("\n")
        ]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("\n".join(lines))
            file.flush()
            row = {"arch": arch, "harvest": mask, "dram_harvest": dram, "noc": noc}
            out.write(json.dumps(row | ask(file.name, lambda noc=noc: harvest(noc))) + "\n")


def open_mesh(shape, offset):
    options = {"offset": ttnn.MeshCoordinate(*offset)} if offset else {}
    return ttnn.open_mesh_device(ttnn.MeshShape(*shape), **options)


def mesh(shape, offset):
    return {"chips": list(open_mesh(shape, offset).get_device_ids())}


def reshape(shape, to):
    device = open_mesh(shape, None)
    device.reshape(ttnn.MeshShape(*to))
    return {"chips": list(device.get_device_ids())}


def submesh(shape, part, offset):
    device = open_mesh(shape, None)
    return {"chips": list(device.create_submesh(ttnn.MeshShape(*part), ttnn.MeshCoordinate(*offset)).get_device_ids())}


def record_meshes(clusters, out):
    """Shapes at places, reshapes and submeshes of six machines."""
    machines = {"n300": ("wormhole_N300", 2, 1), "t3k": ("t3k_cluster_desc", 2, 4), "p150_x4": ("blackhole_4xP150", 2, 2),
                "p150_x8": ("blackhole_8xP150", 2, 4), "galaxy_wh": ("6u_cluster_desc", 8, 4), "galaxy_bh": ("blackhole_galaxy", 8, 4)}
    for name, (file, rows, cols) in machines.items():
        path = clusters / f"{file}.yaml"

        def write(question, *arguments, **row):
            out.write(json.dumps({"profile": name} | row | ask(path, lambda: question(*arguments))) + "\n")

        chips = rows * cols
        for length in range(1, chips + 2):
            if chips < 32 or length < 17 or length % 4 == 0 or length > 28:
                write(mesh, (1, length), None, open=[1, length])
        for shape in ((0, 1), (2, 1), (4, 1), (2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (4, 4), (4, 8), (8, 4), (2, 8), (4, 5), (5, 4), (3, 3)):
            write(mesh, shape, None, open=list(shape))
        places = list(itertools.product(range(rows + 1), range(cols + 1)))
        for shape in ((1, 1), (1, 2), (1, 3), (1, 4), (4, 1), (1, 6), (1, 8), (2, 2), (2, 3), (3, 2), (4, 2), (2, 4)):
            for place in places if chips <= 8 else places[:: 7]:
                write(mesh, shape, place, open=list(shape), at=list(place))
        shapes = [(r, c) for r in range(1, 9) for c in range(1, 9) if r * c <= chips and chips <= 8 or (r, c) == (rows, cols)]
        for shape in shapes:
            count = shape[0] * shape[1]
            for to in [(r, count // r) for r in range(1, count + 1) if count % r == 0] + [(1, count + 1)]:
                write(reshape, shape, to, open=list(shape), reshape=list(to))
        for part in ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (0, 1), (2, 5)):
            for place in places if chips <= 8 else places[:: 11]:
                write(submesh, (rows, cols), part, place, open=[rows, cols], part=list(part), at=list(place))


if __name__ == "__main__":
    clusters, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    with open(folder / "meshes.jsonl", "w") as out:
        record_meshes(clusters, out)
    with open(folder / "harvest.jsonl", "w") as out:
        record_harvest(clusters, out)
