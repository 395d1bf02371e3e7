"""Checkpoints: whole or not there, whatever happens while they are written."""

from __future__ import annotations

import builtins
import contextlib
import errno
import json
import os

import numpy as np
import pytest

from training import checkpoint

ARRAYS = {"a": np.arange(12, dtype=np.float32).reshape(3, 4), "b": np.array([7], dtype=np.int64)}


def save(folder, number):
    return checkpoint.save(folder, number, {**ARRAYS, "n": np.array([number])}, {"updates": number})


def test_round_trip_and_the_last_three_are_kept(tmp_path):
    for number in (1, 2, 3, 10, 11):
        save(tmp_path, number)
    assert checkpoint.numbers(tmp_path) == [3, 10, 11]
    arrays, table, complaints = checkpoint.load_newest(tmp_path)
    assert (table, complaints) == ({"updates": 11}, [])
    np.testing.assert_array_equal(arrays["a"], ARRAYS["a"])
    assert arrays["n"].tolist() == [11]


def test_an_empty_folder_has_no_checkpoint(tmp_path):
    assert checkpoint.load_newest(tmp_path) is None
    assert checkpoint.load_newest(tmp_path / "absent") is None


@pytest.mark.parametrize("name", [checkpoint.ARRAYS, checkpoint.TABLE, checkpoint.MANIFEST])
@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(tmp_path, name, damage):
    save(tmp_path, 1)
    path = save(tmp_path, 2) / name
    data = bytearray(path.read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    elif damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    else:
        path.unlink()
    _, table, complaints = checkpoint.load_newest(tmp_path)
    assert table == {"updates": 1}
    assert "checkpoint-00000002" in complaints[0]
    assert "falling back" in complaints[0]


def test_without_any_whole_checkpoint_the_error_names_them(tmp_path):
    (save(tmp_path, 1) / checkpoint.MANIFEST).unlink()
    with pytest.raises(checkpoint.CheckpointError, match=r"no checkpoint is whole.*00000001"):
        checkpoint.load_newest(tmp_path)


def test_a_checkpoint_of_another_format_is_refused(tmp_path):
    path = save(tmp_path, 1)
    (path / checkpoint.MANIFEST).write_text(json.dumps({"format": "other", "files": {}}))
    with pytest.raises(checkpoint.CheckpointError, match="format 'other'"):
        checkpoint.load(path)


DISK_CALLS = {  # what a save does to the disk: where it is looked up, and which of its calls may fail
    "mkdir": (os, [1]),  # the temporary folder; the one of all checkpoints is there already
    "open": (builtins, [0, 1, 2]),
    "write": (checkpoint, [0, 1, 2]),
    "fsync": (os, [0, 1, 2, 3, 4]),
    "rename": (os, [0]),
}


def disk_full(monkeypatch, call, nth):
    """Let the n-th call fail; a write stores half of its data first. Returns the list of calls made."""
    owner, _ = DISK_CALLS[call]
    name = "_write_and_flush" if call == "write" else call
    real, calls = getattr(owner, name), []

    def failing(*arguments, **options):
        calls.append(arguments)
        if len(calls) == nth + 1:
            if call == "write":
                path, data = arguments
                path.write_bytes(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, failing)
    return calls


@pytest.mark.parametrize("call", DISK_CALLS)
def test_a_full_disk_at_any_call_leaves_the_old_checkpoint(tmp_path, monkeypatch, call):
    """Wherever a save fails: the error comes out, the old checkpoint loads, nothing is left over."""
    save(tmp_path, 1)
    places = DISK_CALLS[call][1]
    for nth in places:
        with monkeypatch.context() as patch:
            made = disk_full(patch, call, nth)
            with pytest.raises(OSError, match="No space left"):
                save(tmp_path, 2 + nth)
        assert len(made) == nth + 1
        _, table, complaints = checkpoint.load_newest(tmp_path)
        assert complaints == []
        # the last flush makes the rename last; if it alone fails, the new one is there already
        assert table["updates"] == (6 if (call, nth) == ("fsync", 4) else 1)
        assert not list(tmp_path.glob(".*"))
    with monkeypatch.context() as patch:
        made = disk_full(patch, call, 10**6)
        save(tmp_path, 100)
    assert len(made) == places[-1] + 1, "a save calls this more often: the test misses some"


def test_saving_an_update_again_never_takes_the_checkpoint_away(tmp_path, monkeypatch):
    save(tmp_path, 5)
    for call in DISK_CALLS:
        with monkeypatch.context() as patch:
            disk_full(patch, call, 0)
            with contextlib.suppress(OSError):
                save(tmp_path, 5)
        assert checkpoint.load_newest(tmp_path)[1] == {"updates": 5}


def test_a_damaged_checkpoint_of_the_same_update_is_replaced(tmp_path):
    (save(tmp_path, 5) / checkpoint.ARRAYS).write_bytes(b"damaged")
    save(tmp_path, 5)
    assert checkpoint.load_newest(tmp_path)[1:] == ({"updates": 5}, [])


def test_leftovers_of_a_killed_process_are_swept(tmp_path):
    (tmp_path / ".checkpoint-00000005.tmp").mkdir()
    (tmp_path / ".checkpoint-00000005.tmp" / "arrays.safetensors").write_bytes(b"half")
    save(tmp_path, 1)
    checkpoint.sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-00000001"]
