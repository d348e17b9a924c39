"""Reads .tracy files of versions 0.10 and 0.11 from their description alone (docs/formats/tracy.md): for tests."""

import collections
import ctypes
import ctypes.util
import struct

Zone = collections.namedtuple("Zone", "name function file line begin end text depth")
Message = collections.namedtuple("Message", "time text color")


class _Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t)]


def unpack(data):
    """The payload: blocks of one zstd stream, each of 64 KiB but the last."""
    assert data[:4] == b"tZst"
    zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    zstd.ZSTD_createDStream.restype = ctypes.c_void_p
    zstd.ZSTD_decompressStream.restype = ctypes.c_size_t
    stream, at, parts = ctypes.c_void_p(zstd.ZSTD_createDStream()), 4, []
    room = ctypes.create_string_buffer(65536)
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        block = ctypes.create_string_buffer(data[at + 4 : at + 4 + size], size)
        source = _Buffer(ctypes.addressof(block), size, 0)
        target = _Buffer(ctypes.addressof(room), 65536, 0)
        left = zstd.ZSTD_decompressStream(stream, ctypes.byref(target), ctypes.byref(source))
        assert not zstd.ZSTD_isError(ctypes.c_size_t(left)) and source.at == size
        assert not parts or len(parts[-1]) == 65536
        parts.append(room.raw[: target.at])
        at += 4 + size
    zstd.ZSTD_freeDStream(stream)
    return b"".join(parts)


class Tracy:
    """What a file holds."""

    def __init__(self, data):
        self.data, self.at = unpack(data), 0
        self._head()
        self._names()
        self._locations()
        assert self._get("Q") == 0  # locks
        self._messages()
        self._threads()
        self._devices()
        self._plots()
        self._rest()
        assert self.at == len(self.data)

    def _get(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def _int24(self):
        low, high = self._get("HB")
        return low | high << 16

    def _text(self):
        size = self._get("Q")
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def _string(self):
        """A reference to a string; None when there is none."""
        index, flags = self._get("QB")
        assert flags in (0, 3)
        return self.strings[index] if flags else None

    def _times(self, count, form):
        """Rows that begin with a time, as the difference to the row before."""
        now = 0
        for _ in range(count):
            step, *rest = self._get("q" + form)
            now += step
            yield (now, *rest)

    def _head(self):
        assert self._get("5s") == b"tracy"
        self.version = self._get("BBB")
        self.delay, self.resolution, self.scale, self.last = self._get("qqdq")
        _, self.pid, _, _, _, _, _ = self._get("QQqBI12sB")
        self.capture, self.program = self._text(), self._text()
        self.captured, _ = self._get("QQ")
        self.host = self._text()
        assert self._get("Q") == 0
        assert self._get("28s") == bytes(28)
        assert self._get("Q") == 1  # sets of frames
        name, continuous, count = self._get("QBQ")
        assert (name, continuous) == (0, 1) and count >= 1
        self.frames = [time for time, image in self._times(count, "i")]

    def _names(self):
        self.strings, places = [], {}
        for _ in range(self._get("Q")):
            place = self._get("Q")
            places[place] = self._text()
            self.strings.append(places[place])
        assert len(places) == len(self.strings)
        self.called = {key: places[place] for key, place in (self._get("QQ") for _ in range(self._get("Q")))}
        self.thread_names = {key: places[place] for key, place in (self._get("QQ") for _ in range(self._get("Q")))}
        assert self._get("Q") == 0
        self.tids = [self._get("Q") for _ in range(self._get("Q"))]
        assert self.tids[0] == 0 and len(set(self.tids)) == len(self.tids)
        assert [self._get("Q") for _ in range(self._get("Q"))] == [0]

    def _locations(self):
        assert self._get("Q") == 0 and self._get("QQ") == (1, 0)
        self.locations = []
        for _ in range(self._get("Q")):
            name, function, file = self._string(), self._string(), self._string()
            self.locations.append((name, function, file, *self._get("II")))
        assert len(self.locations) <= 32767
        self.counts, self.gpu_counts = ({self._get("h"): self._get("Q") for _ in range(self._get("Q"))} for _ in range(2))

    def _messages(self):
        self.messages, now = {}, 0
        for _ in range(self._get("Q")):
            number, step = self._get("Qq")
            assert step >= 0
            now += step
            text, color = self._string(), self._get("I")
            assert self._int24() == 0
            self.messages[number] = Message(now, text, color)
        self.extras = []
        for _ in range(self._get("Q")):
            _, text, name, _ = (self._int24() for _ in range(4))
            self.extras.append([self.strings[row - 1] if row else None for row in (text, name)])

    def _timeline(self, zones, depth):
        """Zones of a thread, each before those inside it."""
        for _ in range(self._get("I")):
            location, step, extra = self._get("hqI")
            assert step >= 0 and location < 0
            self.now += step
            self.seen[location] += 1
            place = len(zones)
            zones.append(None)
            begin = self.now
            before = self.at
            self._timeline(zones, depth + 1)
            self.parents += len(zones) > place + 1
            step = self._get("q")
            assert step >= 0 and before < self.at
            self.now += step
            name, function, file, line, _ = self.locations[-location - 1]
            text, name = self.extras[extra][0], self.extras[extra][1] or name
            zones[place] = Zone(name, function, file, line, begin, self.now, text, depth)

    def _threads(self):
        zones, parents, count = self._get("QQQ")
        self.threads, self.thread_messages, self.seen, self.parents = {}, {}, collections.Counter(), 0
        for _ in range(count):
            tid, expected, samples, fiber = self._get("QQQB")
            assert (samples, fiber) == (0, 0) and tid in self.tids
            self.now = 0
            self.threads[tid] = []
            self._timeline(self.threads[tid], 0)
            assert len(self.threads[tid]) == expected
            self.thread_messages[tid] = [self.messages[self._get("Q")] for _ in range(self._get("Q"))]
            assert self._get("QQ") == (0, 0)
        assert sum(map(len, self.threads.values())) == zones and self.parents == parents
        assert dict(self.seen) == self.counts

    def _devices(self):
        zones, parents, count = self._get("QQQ")
        self.devices, seen = {}, collections.Counter()
        for _ in range(count):
            thread, calibrated, expected, period, kind = self._get("QBQfB")
            name = self.strings[self._int24() - 1]
            assert (thread, calibrated, period, kind, self._get("Q")) == (0, 0, 1.0, 7, 0)
            self.devices[name] = {}
            for _ in range(self._get("Q")):
                tid, rows, cpu, gpu = self._get("Q"), [], 0, 0
                for _ in range(self._get("Q")):
                    by_cpu, by_gpu, location = self._get("qqh")
                    cpu, gpu, begin = cpu + by_cpu, gpu + by_gpu, gpu + by_gpu
                    assert self._int24() == 0 and self._get("H") < len(self.tids) and self._get("Q") == 0
                    by_cpu, by_gpu = self._get("qq")
                    cpu, gpu = cpu + by_cpu, gpu + by_gpu
                    seen[location] += 1
                    rows.append(Zone(*self.locations[-location - 1][:4], begin, gpu, None, 0))
                self.devices[name][self.thread_names[tid]] = rows
            assert sum(map(len, self.devices[name].values())) == expected
        assert parents == 0 and dict(seen) == self.gpu_counts and sum(seen.values()) == zones

    def _plots(self):
        self.plots = {}
        for _ in range(self._get("Q")):
            kind, form, steps, fill, color, name, least, most, total, count = self._get("BBBBIQdddQ")
            rows = list(self._times(count, "d"))
            values = [value for _, value in rows]
            assert (min(values), max(values), sum(values)) == (least, most, total)
            self.plots[self.called[name]] = rows

    def _rest(self):
        assert self._get("QQ") == (1, 0)
        assert not any(self._get("8Q"))
        assert not any(self._get("3Q")) and self._get("I") == 0
        assert not any(self._get("Q" + "Q" + "257Q" + "9Q"))
