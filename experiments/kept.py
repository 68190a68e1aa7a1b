"""A memory for the last few results of costly work, safe with several threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class _Slot(Generic[Value]):
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.made: list[Value] = []


class Kept(Generic[Key, Value]):
    """The last ``size`` results. Two threads that ask for the same one do the work once: the second waits."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._slots: OrderedDict[Key, _Slot[Value]] = OrderedDict()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return what ``make`` returned for this key, now or before."""
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            while len(self._slots) > self._size:
                self._slots.popitem(last=False)
        with slot.lock:
            if not slot.made:
                slot.made.append(make())
            return slot.made[0]

    def put(self, key: Key, value: Value) -> None:
        """Keep a value that was made elsewhere, in place of what was kept under this key."""
        slot: _Slot[Value] = _Slot()
        slot.made.append(value)
        with self._lock:
            self._slots[key] = slot
            self._slots.move_to_end(key)
            while len(self._slots) > self._size:
                self._slots.popitem(last=False)

    def __len__(self) -> int:
        return len(self._slots)
