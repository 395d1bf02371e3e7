"""Checkpoints: whole or not there, whatever happens while they are written."""

from __future__ import annotations

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


@pytest.mark.parametrize("call", ["open", "fsync", "rename"])
@pytest.mark.parametrize("nth", range(4))
def test_a_full_disk_at_any_call_leaves_the_old_checkpoint(tmp_path, monkeypatch, call, nth):
    """The n-th open, fsync or rename fails: the error comes out, the old checkpoint loads, no leftovers."""
    save(tmp_path, 1)
    real, calls = getattr(os, call), iter(range(100))

    def failing(*arguments, **options):
        if next(calls) == nth:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments, **options)

    monkeypatch.setattr(os, call, failing)
    try:
        save(tmp_path, 2)
        failed = False
    except OSError as error:
        failed = error.errno == errno.ENOSPC
    monkeypatch.undo()
    _, table, complaints = checkpoint.load_newest(tmp_path)
    assert complaints == []
    assert table["updates"] in ((1, 2) if failed else (2,))
    checkpoint.sweep(tmp_path)
    assert not list(tmp_path.glob(".*"))


def test_leftovers_of_a_killed_process_are_swept(tmp_path):
    (tmp_path / ".checkpoint-00000005.tmp").mkdir()
    (tmp_path / ".checkpoint-00000005.tmp" / "arrays.safetensors").write_bytes(b"half")
    save(tmp_path, 1)
    checkpoint.sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-00000001"]
