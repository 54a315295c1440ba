from __future__ import annotations

import os
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from setpoint.auditing.cache import FactsCache, cache_folder, code_mark, facts_key
from setpoint.auditing.driver import Wish, audit

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_put_is_found_by_the_next_run(tmp_path: Path) -> None:
    """Facts survive in the file, and other code does not see them."""
    with closing(FactsCache(tmp_path, "one")) as cache:
        cache.put({"a": b"1", "b": b"2"})
    with closing(FactsCache(tmp_path, "one")) as cache:
        assert cache.get(["a", "b", "c"]) == {"a": b"1", "b": b"2"}
    with closing(FactsCache(tmp_path, "two")) as cache:
        assert cache.get(["a"]) == {}


def test_keys_tell_path_content_and_project_apart() -> None:
    """Shifting a byte from one part to another makes another key."""
    keys = {
        facts_key("a", b"b", context=b"c"),
        facts_key("ab", b"", context=b"c"),
        facts_key("a", b"", context=b"bc"),
        facts_key("a", b"bc", context=b""),
    }
    assert len(keys) == 4


def test_a_broken_file_is_thrown_away(tmp_path: Path) -> None:
    """A cache that was cut off is begun anew."""
    (tmp_path / "facts-one.sqlite").write_bytes(b"not a database" * 1000)
    with closing(FactsCache(tmp_path, "one")) as cache:
        cache.put({"a": b"1"})
        assert cache.get(["a"]) == {"a": b"1"}


def test_a_folder_that_others_may_write_is_not_trusted(tmp_path: Path) -> None:
    """Facts are unpickled, so they must be the user's own."""
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with closing(FactsCache(folder, "one")) as cache:
        cache.put({"a": b"1"})
        assert cache.get(["a"]) == {}
    assert not list(folder.iterdir())


def test_a_folder_that_cannot_be_made_is_no_cache(tmp_path: Path) -> None:
    """Without a cache the audit still works."""
    (tmp_path / "file").write_text("")
    with closing(FactsCache(tmp_path / "file" / "below", "one")) as cache:
        cache.put({"a": b"1"})
        assert cache.get(["a"]) == {}


def test_caches_of_old_versions_are_dropped(tmp_path: Path) -> None:
    """What no run touched for weeks goes away."""
    old = tmp_path / "facts-old.sqlite"
    old.write_bytes(b"")
    month_ago = time.time() - 30 * 86400
    os.utime(old, (month_ago, month_ago))
    FactsCache(tmp_path, "one").close()
    assert not old.exists()


def test_the_folder_follows_the_users_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """XDG_CACHE_HOME decides; a relative one is not a setting."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "setpoint" / "audit"
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    assert "here" not in cache_folder().parts


def test_the_mark_of_the_code_is_stable() -> None:
    """Two runs of the same code share a cache."""
    assert code_mark() == code_mark()


def test_an_audit_that_was_stopped_keeps_what_it_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next audit goes on from there, as the command says."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "repository"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.sql").write_text(f"INSERT INTO t{number} SELECT * FROM s;")
    wish = Wish(paths=(folder,), rules=(), processes=1)
    seen: list[int] = []

    def stop(done: int, _total: int) -> None:
        seen.append(done)
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit(wish, on_progress=stop)
    audit(wish, on_progress=lambda done, _total: seen.append(done))
    assert seen == [1, 2, 3]
