"""The viewer's side of Tracy's protocol, in all versions that are spoken, written from its description
(docs/formats/tracy.md): for tests."""

import collections
import socket
import struct
import time

# Versions, and the numbers that events have in each; "text" is a length of 16 bits and as many bytes.
PROTOCOLS = (64, 66, 69, 74, 76, 82)
NUMBERS = {
    "zone_text": ((0,) * 6, ""),
    "zone_name": ((1,) * 6, ""),
    "message": ((2,) * 6, "q"),
    "message_color": ((3,) * 6, "qBBB"),
    "begin": ((15, 15, 15, 15, 15, 19), "qQ"),
    "end": ((17, 17, 17, 17, 17, 25), "q"),
    "gpu_begin": ((38, 38, 38, 40, 40, 50), "qIHBQ"),
    "gpu_end": ((42, 42, 42, 44, 44, 54), "qIHB"),
    "plot": ((45, 45, 45, 47, 47, 57), "Qqd"),
    "gpu_time": ((48, 48, 48, 50, 50, 60), "qHB"),
    "gpu_name": ((49, 49, 49, 51, 51, 61), "B"),
    "terminate": ((57, 57, 57, 59, 60, 73), ""),
    "alive": ((58, 58, 58, 60, 61, 74), ""),
    "thread": ((59, 59, 59, 61, 62, 75), "I"),
    "round": ((66, 67, 67, 69, 70, 83), "qQ"),
    "location": ((70, 71, 71, 73, 74, 87), "QQQIBBB"),
    "gpu_new": ((78, 79, 79, 81, 82, 95), "qqIfBBB"),
    "plot_config": ((89, 90, 90, 92, 93, 106), "QBBBI"),
    "nothing": ((91, 92, 92, 94, 95, 108), ""),
    "text": ((95, 96, 96, 98, 99, 112), "text"),
    "string": ((98, 99, 100, 102, 104, 119), "Q text"),
    "thread_name": ((99, 100, 101, 103, 105, 120), "Q text"),
    "plot_name": ((100, 101, 102, 104, 106, 121), "Q text"),
    "frame_name": ((104, 105, 106, 108, 110, 125), "Q text"),
}


def events_of(protocol):
    """Events by number: name, form, and what is added to the first field."""
    at = PROTOCOLS.index(protocol)
    events = {numbers[at]: (name, form, 0) for name, (numbers, form) in NUMBERS.items()}
    if protocol >= 82:  # shorter forms, each of which counts from where the one before ends
        for number, name, tail in ((19, "begin", "Q"), (25, "end", "")):
            events[number] = (name, "q" + tail, (1 << 16) + (1 << 32))
            events[number + 1] = (name, "I" + tail, 1 << 16)
            events[number + 2] = (name, "H" + tail, 0)
        events[2], events[3] = ("message", "qB", 0), ("message_color", "qBBBB", 0)
        events[112], events[114] = ("text", "text", 256), ("text", "text8", 0)
    return events


TERMINATE, STRING, THREAD, LOCATION, PLOT = range(5)
WELCOME = "<dqqQQQQQqBB12sI64s1024s"  # the first Q, a delay, is not in versions from 0.13 on
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
        self._events = events_of(protocol) if protocol in PROTOCOLS else {}
        self.sock = connect(port)
        self.sock.sendall(HELLO + struct.pack("<I", protocol))
        self.status = read(self.sock, 1)[0]
        self.zones, self.messages, self.plots = collections.defaultdict(list), [], collections.defaultdict(list)
        self.programs, self.contexts, self.rounds, self.terminated = [], {}, [], False
        self.names = {STRING: {}, THREAD: {}, PLOT: {}}
        self.locations, self._asked, self._open = {}, [], collections.defaultdict(list)
        self._text, self._raw, self._thread, self._now, self._gpu = None, b"", None, 0, 0
        self._times, self.colors = {}, {}
        if self.status == 1:
            form = WELCOME if protocol < 76 else WELCOME.replace("Q", "", 1)
            welcome = struct.unpack(form, read(self.sock, struct.calcsize(form)))
            self.base, self.pid, self.late = welcome[1], welcome[-8], welcome[-6] & 1
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
            name, form, more = self._events[self._raw[at]]
            at += 1
            fields = []
            for part in form.split():
                if part.startswith("text"):
                    wide = 1 if part == "text8" else 2
                    length = int.from_bytes(self._raw[at : at + wide], "little") + more
                    fields.append(self._raw[at + wide : at + wide + length].decode())
                    at += wide + length
                else:
                    fields += struct.unpack_from("<" + part, self._raw, at)
                    at += struct.calcsize("<" + part)
                    if more and name != "text":
                        fields[0] += more
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
        self._open[self._thread].append([location, self._step(step), "", ""])

    def _on_zone_text(self):
        self._open[self._thread][-1][2] = self._text

    def _on_zone_name(self):
        self._open[self._thread][-1][3] = self._text

    def _on_end(self, step):
        location, begin, text, name = self._open[self._thread].pop()
        end = self._step(step)
        assert begin <= end
        self.zones[self._thread].append((location, begin, end, text, name))

    def _on_text(self, text):
        self._text = text

    def _on_message(self, now, metadata=0x20):
        self.messages.append((self._thread, now - self.base, self._text, metadata >> 4))

    def _on_message_color(self, now, blue, green, red, metadata=0x20):
        self._on_message(now, metadata)
        self.colors[self._text] = red << 16 | green << 8 | blue

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
