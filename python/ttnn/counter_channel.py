"""InterProcessCounterChannel: a counter in shared memory that one process raises and another drains.

A segment of upstream's layout, so that either side may be upstream's: three numbers of 32 bits in the machine's order.

     0  events so far, written by the owner
    64  events seen, written by the connector
    68  whether the last connector ended as it should

Each number has one writer at a time, and is read and written whole.
"""

import contextlib
import mmap
import operator
import os
import struct
import time

_PLACE = "/dev/shm"
_SIZE, _EVENTS, _SEEN, _CLEAN = 128, 0, 16, 17  # numbers of 4 bytes, from the beginning
_READY = struct.pack("=32I", *(number == _CLEAN for number in range(32)))  # a new segment, as its owner leaves it
_PAUSE = 0.005


def _path(name):
    if not isinstance(name, str) or not name.startswith("/") or "/" in name[1:] or len(name) < 2:
        raise RuntimeError(f"{name!r} is no name of shared memory: it begins with / and has no other")
    try:
        os.fsencode(name)
    except UnicodeEncodeError as error:
        raise RuntimeError(f"{name!r} is no name of shared memory: {error.reason}") from error
    if "\0" in name:
        raise RuntimeError(f"{name!r} is no name of shared memory: it has a NUL")
    return _PLACE + name


def _failed(path, error):
    return RuntimeError(f"InterProcessCounterChannel: {path}: {getattr(error, 'strerror', None) or error}")


class InterProcessCounterChannel:
    """The owner's end; connect() gives the other one. Ends when shutdown() says so, or nobody has it any more."""

    def __init__(self, shm_name):
        path = _path(shm_name)
        try:
            fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except OSError as error:
            raise _failed(path, error) from error
        try:
            if os.pwrite(fd, _READY, 0) != _SIZE:  # one write: who sees the size sees the numbers
                raise OSError("not all of it could be written")
            self._map(fd, shm_name)
        except BaseException as error:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            if isinstance(error, (OSError, ValueError)):
                raise _failed(path, error) from error
            raise
        finally:
            os.close(fd)
        self._clean = None

    def _map(self, fd, name):
        self._memory = mmap.mmap(fd, _SIZE)
        self._numbers = memoryview(self._memory).cast("I")
        self._name, self._process = name, os.getpid()

    @classmethod
    def connect(cls, shm_name, connect_timeout_ms=30000):
        """Attaches to what an owner has made, or makes within this time."""
        path, until = _path(shm_name), time.monotonic() + connect_timeout_ms / 1000
        while True:
            try:
                fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
            except FileNotFoundError as error:
                fd, why = None, error.strerror
            except OSError as error:  # waiting does not mend it
                raise _failed(path, error) from error
            if fd is not None and os.fstat(fd).st_size >= _SIZE:
                break
            if fd is not None:
                os.close(fd)
                why = "not complete"
            if time.monotonic() >= until:
                raise RuntimeError(f"InterProcessCounterChannel: {path} after {connect_timeout_ms} ms: {why}")
            time.sleep(_PAUSE)
        self = cls.__new__(cls)
        try:
            self._map(fd, shm_name)
        except (OSError, ValueError) as error:
            raise _failed(path, error) from error
        finally:
            os.close(fd)
        self._clean = bool(self._numbers[_CLEAN])
        self._numbers[_CLEAN] = 0
        return self

    def _need(self, what, connector):
        if self._memory is None:
            raise RuntimeError(f"{what}: the channel {self._name} was shut down")
        if (self._clean is not None) != connector:
            raise RuntimeError(f"{what} is the {'connector' if connector else 'owner'}'s")

    @property
    def shm_name(self):
        return self._name

    def inject(self, n):
        """So many events more."""
        self._need("inject", connector=False)
        if not 0 <= operator.index(n) < 2**32:
            raise TypeError(f"inject: {n} is no count of 32 bits")
        self._numbers[_EVENTS] = (self._numbers[_EVENTS] + n) % 2**32

    def pending(self):
        """Events that were not taken."""
        self._need("pending", connector=True)
        return (self._numbers[_EVENTS] - self._numbers[_SEEN]) % 2**32

    def try_consume_all(self):
        """Takes them: how many there were."""
        count = self.pending()
        self._numbers[_SEEN] = (self._numbers[_SEEN] + count) % 2**32
        return count

    def had_clean_prior_shutdown(self):
        """Whether the connector before this one, if there was one, was shut down."""
        self._need("had_clean_prior_shutdown", connector=True)
        return self._clean

    def shutdown(self):
        """Ends this side; the owner's removes the segment. Nothing happens the second time."""
        if getattr(self, "_memory", None) is None:
            return
        if self._process == os.getpid():  # a child of a fork leaves its parent's segment alone
            if self._clean is not None:
                self._numbers[_CLEAN] = 1
            else:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(_path(self._name))
        self._numbers.release()
        self._memory.close()
        self._memory = None

    def __del__(self):
        self.shutdown()
