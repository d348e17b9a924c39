"""The viewer's side of Tracy's protocol 66 (0.11.0), written from its description (docs/formats/tracy.md): for tests."""

import collections
import socket
import struct
import time

# Events by number: name and the form of what follows; "text" is a length of 16 bits and as many bytes.
EVENTS = {
    2: ("message", "q"),
    15: ("begin", "qQ"),
    17: ("end", "q"),
    38: ("gpu_begin", "qIHBQ"),
    42: ("gpu_end", "qIHB"),
    45: ("plot", "Qqd"),
    48: ("gpu_time", "qHB"),
    49: ("gpu_name", "B"),
    57: ("terminate", ""),
    58: ("alive", ""),
    59: ("thread", "I"),
    67: ("round", "qQ"),
    71: ("location", "QQQIBBB"),
    79: ("gpu_new", "qqIfBBB"),
    90: ("plot_config", "QBBBI"),
    92: ("nothing", ""),
    96: ("text", "text"),
    99: ("string", "Q text"),
    100: ("thread_name", "Q text"),
    101: ("plot_name", "Q text"),
    105: ("frame_name", "Q text"),
}
TERMINATE, STRING, THREAD, LOCATION, PLOT = range(5)
WELCOME = struct.Struct("<dqqQQQQQqBB12sI64s1024s")
HELLO = b"TracyPrf"


def lz4(block, before):
    """One block of a stream, behind the text so far."""
    out, at = bytearray(before[-65536:]), 0
    skip = len(out)

    def more(length):
        nonlocal at
        while True:
            length += block[at]
            at += 1
            if block[at - 1] < 255:
                break
        return length

    while at < len(block):
        token = block[at]
        at += 1
        literals = more(token >> 4) if token >> 4 == 15 else token >> 4
        out += block[at : at + literals]
        at += literals
        if at == len(block):
            break
        offset = int.from_bytes(block[at : at + 2], "little")
        at += 2
        length = (more(token & 15) if token & 15 == 15 else token & 15) + 4
        for _ in range(length):
            out.append(out[-offset])
    return bytes(out[skip:])


def connect(port, seconds=10):
    """A connection, once somebody listens."""
    end = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=seconds)
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def read(sock, size):
    data = b""
    while len(data) < size:
        piece = sock.recv(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


class Viewer:
    """Attaches, asks for every name, and takes all there is."""

    def __init__(self, port, protocol=66):
        self.sock = connect(port)
        self.sock.sendall(HELLO + struct.pack("<I", protocol))
        self.status = read(self.sock, 1)[0]
        self.zones, self.messages, self.plots = collections.defaultdict(list), [], collections.defaultdict(list)
        self.programs, self.contexts, self.rounds, self.terminated = [], {}, [], False
        self.names = {STRING: {}, THREAD: {}, PLOT: {}}
        self.locations, self._asked, self._open = {}, [], collections.defaultdict(list)
        self._text, self._raw, self._thread, self._now, self._gpu = None, b"", None, 0, 0
        self._times = {}
        if self.status == 1:
            self.welcome = WELCOME.unpack(read(self.sock, WELCOME.size))
            self.base, self.late = self.welcome[1], self.welcome[9] & 1
            if self.late:
                read(self.sock, 16)

    def close(self):
        self.sock.close()

    def _ask(self, kind, what):
        known = self.locations if kind == LOCATION else self.names[kind]
        if what not in known:
            known[what] = None
            self._asked.append((kind, what))
            self.sock.sendall(struct.pack("<BQI", kind, what, 0))

    def frame(self):
        """The next frame, as events."""
        (size,) = struct.unpack("<I", read(self.sock, 4))
        self._raw = lz4(read(self.sock, size), self._raw)
        assert len(self._raw) <= 256 * 1024
        at = 0
        while at < len(self._raw):
            name, form = EVENTS[self._raw[at]]
            at += 1
            fields = []
            for part in form.split():
                if part == "text":
                    (length,) = struct.unpack_from("<H", self._raw, at)
                    fields.append(self._raw[at + 2 : at + 2 + length].decode())
                    at += 2 + length
                else:
                    fields += struct.unpack_from("<" + part, self._raw, at)
                    at += struct.calcsize("<" + part)
            getattr(self, "_on_" + name, lambda *fields: None)(*fields)

    def run(self):
        """Until the program has said its last word and every answer is there."""
        while not (self.terminated and not self._asked):
            self.frame()
        self.sock.sendall(struct.pack("<BQI", TERMINATE, 0, 0))
        assert self.sock.recv(1) == b""
        self.close()
        assert not any(self._open.values())

    def _on_thread(self, thread):
        self._thread, self._now = thread, 0
        self._ask(THREAD, thread)

    def _step(self, step):
        self._now += step
        return self._now - self.base

    def _on_begin(self, step, location):
        self._ask(LOCATION, location)
        self._open[self._thread].append((location, self._step(step)))

    def _on_end(self, step):
        location, begin = self._open[self._thread].pop()
        end = self._step(step)
        assert begin <= end
        self.zones[self._thread].append((location, begin, end))

    def _on_text(self, text):
        self._text = text

    def _on_message(self, now):
        self.messages.append((self._thread, now - self.base, self._text))

    def _on_round(self, now, name):
        self.rounds.append(now - self.base)

    def _on_plot(self, name, step, value):
        self._ask(PLOT, name)
        self.plots[name].append((self._step(step), value))

    def _on_gpu_new(self, cpu, gpu, thread, period, context, flags, kind):
        assert (period, kind) == (1.0, 7) and context not in self.contexts
        self.contexts[context] = None

    def _on_gpu_name(self, context):
        self.contexts[context] = self._text

    def _on_gpu_begin(self, step, lane, query, context, location):
        assert context in self.contexts
        self._ask(LOCATION, location)
        self._times[query] = location

    def _on_gpu_end(self, step, lane, query, context):
        self._times[query] = None

    def _on_gpu_time(self, step, query, context):
        self._gpu += step
        location = self._times.pop(query)
        if location:
            self.programs.append([context, location, self._gpu - self.base])
        else:
            assert self.programs[-1][2] <= self._gpu - self.base
            self.programs[-1].append(self._gpu - self.base)

    def _on_location(self, name, function, file, line, *color):
        (kind, what) = next(row for row in self._asked if row[0] == LOCATION)
        self._asked.remove((kind, what))
        self.locations[what] = (name, function, file, line)
        for string in (name, function, file):
            self._ask(STRING, string)

    def _named(self, kind, what, text):
        if (kind, what) in self._asked:
            self._asked.remove((kind, what))
        self.names[kind][what] = text

    def _on_string(self, what, text):
        self._named(STRING, what, text)

    def _on_thread_name(self, what, text):
        self._named(THREAD, what, text)

    def _on_plot_name(self, what, text):
        self._named(PLOT, what, text)

    def _on_terminate(self):
        self.terminated = True

    def named(self, location):
        return self.names[STRING][self.locations[location][0]]
