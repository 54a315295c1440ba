"""Which dialect a text is written in, guessed from what only that dialect says."""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot.dialects.dialect import Dialect

# Searched in lower-case text, which is three times quicker than ignoring case.
_HINTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.MULTILINE))
    for name, pattern in (
        (
            "tsql",
            (
                r"\bgetdate\(\)|\bnext\s+value\s+for\b|\[dbo\]|\bdbo\.|^\s*go\s*$|\bnvarchar\b"
                r"|\bnewid\(\)|\bisnull\("
                r"|#\w+\b(?=\s*\()|@@rowcount"
                r"|\bset\s+nocount|\bsysdatetime\(|\bselect\s+top\s|\btry_convert\(|\bdatetime2\b"
                r"|\bbegin\s+tran|\binto\s+#\w"
            ),
        ),
        (
            "bigquery",
            (
                r"`[\w-]+\.[\w-]+\.[\w*-]+`|\bsafe_cast\(|\bdate_sub\(\s*current_date"
                r"|\btimestamp_sub\(|\bint64\b|\bstruct<"
                r"|\bgenerate_uuid\(|\bparse_date\(|\bload\s+data\s+(?:into|overwrite)"
                r"|\bsafe_divide\(|\bfarm_fingerprint\("
            ),
        ),
        (
            "snowflake",
            (
                r"\bvariant\b|\blateral\s+flatten\(|\bcopy\s+into\b"
                r"|\bcreate\s+(?:or\s+replace\s+)?(?:transient|stage|stream|task)\b"
                r"|\btry_to_|\biff\(|\btimestamp_ntz|\btimestamp_ltz|\bdateadd\(\s*'?(?:day|hour"
                r"|month|minute)'?\s*,|\bconvert_timezone\("
            ),
        ),
        (
            "spark",
            (
                r"\busing\s+(?:delta|parquet|iceberg)\b|\binsert\s+overwrite\b|\blateral\s+view\b"
                r"|\bstored\s+as\s+(?:parquet|orc)"
                r"|\btblproperties\b|\bpartitioned\s+by\b|\bmsck\s+repair"
                r"|\bdate_sub\(\s*current_date\(\)\s*,\s*\d"
                r"|\bcreate\s+or\s+replace\s+temp(?:orary)?\s+view"
            ),
        ),
        (
            "redshift",
            (
                r"\bdistkey\b|\bsortkey\b|\bdiststyle\b|\bunload\s*\(|\biam_role\b"
                r"|\bencode\s+(?:zstd|lzo|az64)|\bcredentials\s+'aws"
            ),
        ),
        (
            "mysql",
            (
                r"\bauto_increment\b|\bengine\s*=\s*innodb|\bon\s+duplicate\s+key"
                r"|\binsert\s+ignore\b|\breplace\s+into\b|\bcurdate\(\)"
                r"|\bload\s+data\s+(?:local\s+)?infile|\bstr_to_date\("
                r"|\bdate_sub\([^)]*,\s*interval\s+\d"
            ),
        ),
        (
            "oracle",
            (
                r"\bvarchar2\b|\bfrom\s+dual\b|\bsystimestamp\b|\bdbms_\w+|\btrunc\(\s*sysdate"
                r"|\bexecute\s+immediate\b|\bnumber\(\d"
            ),
        ),
        (
            "duckdb",
            (
                r"\bread_(?:csv|parquet|json)(?:_auto)?\(|\binsert\s+or\s+(?:replace|ignore)\b"
                r"|\bfrom\s+'[^']+\.(?:csv|parquet)'"
            ),
        ),
        (
            "clickhouse",
            (
                r"\bengine\s*=\s*\w*mergetree|\btodate\(|\btostartof\w+\(|\btoyyyymm\("
                r"|\bfinal\s+where\b"
            ),
        ),
        (
            "postgres",
            (
                r"::\w+|\$\$|\bon\s+conflict\b|\bserial\b|\bplpgsql\b|\bdate_trunc\('"
                r"|\bnow\(\)\s*-\s*interval|\bjsonb\b|\bilike\b"
            ),
        ),
        (
            "trino",
            (
                r"\bdate_add\('\w+',|\bdate_diff\('\w+',|interval\s+'\d+'\s+(?:day|hour|month)"
                r"|\bfrom_iso8601|\bdate_parse\(|\bwith\s*\(\s*format\s*=|\bapprox_distinct\("
            ),
        ),
    )
)
_FALLBACKS = ("", "snowflake", "bigquery", "postgres", "spark", "tsql", "mysql", "oracle")
_BACKTICKED = ("bigquery", "spark", "mysql")
_ALIASES = {
    "databricks": "databricks",
    "sparksql": "spark",
    "hive": "hive",
    "synapse": "tsql",
    "sqlserver": "tsql",
    "fabric": "tsql",
    "mssql": "tsql",
    "athena": "trino",
    "presto": "presto",
    "postgresql": "postgres",
    "mariadb": "mysql",
    "ansi": "",
    "sqlite3": "sqlite",
}
_KNOWN = frozenset(
    {
        "", "athena", "bigquery", "clickhouse", "databricks", "doris", "drill", "druid", "duckdb",
        "hive", "materialize", "mysql", "oracle", "postgres", "presto", "redshift", "risingwave",
        "singlestore", "snowflake", "spark", "sqlite", "starrocks", "tableau", "teradata", "trino",
        "tsql", "exasol", "fabric",
    }
)  # fmt: skip
MOST_TRIES = 9
_LOOKED_AT = 6_000


def known_dialect(name: str) -> str | None:
    """The dialect's canonical name, or None when nobody has heard of it."""
    plain = name.strip().lower()
    plain = _ALIASES.get(plain, plain)
    return plain if plain in _KNOWN else None


@lru_cache(maxsize=512)
def guess_dialect(text: str) -> str:
    """The dialect whose own words the text uses most, or the empty string."""
    best, most = "", 0
    lowered = text.lower()
    for name, whole in _HINTS:
        pattern = _narrowed(whole.pattern, lowered)
        if pattern is None:
            continue
        hits = len({match.group(0) for match in pattern.finditer(lowered)})
        if hits > most:
            best, most = name, hits
    return best


_PART = re.compile(
    r"(?P<none>\\[bswdBSWD]|\[[^\]]*\]|\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)|[$^.])(?:[*+?]|\{[^}]*\})?"
    r"|\\?(?P<letter>.)(?P<many>[*+?])?",
    re.DOTALL,
)


@lru_cache(maxsize=64)
def plain_pieces(pattern: str) -> tuple[tuple[str, ...], ...]:
    """For each alternative of a pattern the plain texts that every match of it holds."""
    pieces: list[tuple[str, ...]] = []
    runs = [""]
    for part in [*_PART.finditer(pattern), None]:
        if part is None or part.group(0) == "|":
            pieces.append(tuple(sorted({run for run in runs if run}, key=len, reverse=True)))
            runs = [""]
        elif part["none"] or part["many"]:
            runs.append("")
        else:
            runs[-1] += part["letter"]
    return tuple(pieces)


@lru_cache(maxsize=64)
def _alternatives(pattern: str) -> tuple[str, ...]:
    ends = [part.start() for part in _PART.finditer(pattern) if part.group(0) == "|"]
    starts = [0, *(end + 1 for end in ends)]
    return tuple(pattern[start:end] for start, end in zip(starts, [*ends, None], strict=True))


def _narrowed(pattern: str, lowered: str) -> re.Pattern[str] | None:
    """The alternatives that can match at all; asking that is several times quicker than looking."""
    possible = [
        one
        for one, pieces in zip(_alternatives(pattern), plain_pieces(pattern), strict=True)
        if _holds(lowered, pieces)
    ]
    return _compiled("|".join(possible)) if possible else None


def _holds(lowered: str, pieces: tuple[str, ...]) -> bool:
    for piece in pieces:  # noqa: SIM110 - a generator costs more than what it asks
        if piece not in lowered:
            return False
    return True


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


class Tries:
    """The dialects to parse a text with, likeliest first; guessed when the hint did not do."""

    def __init__(self, text: str, hint: str) -> None:
        self._text = text
        self._hint = hint
        self._rest: tuple[str, ...] | None = None

    def __iter__(self) -> Iterator[str]:
        """From the start again, for each statement."""
        if self._hint:
            yield self._hint
        if self._rest is None:
            guessed = guess_dialect(self._text[:_LOOKED_AT])
            first = [name for name in (self._hint, guessed) if name]
            if not first and "`" in self._text:
                # Elsewhere a backtick is no quote, and the words fall apart.
                first = list(_BACKTICKED)
            ordered = tuple(dict.fromkeys([*first, *_FALLBACKS]))[:MOST_TRIES]
            self._rest = ordered[1:] if self._hint else ordered
        yield from self._rest


@lru_cache(maxsize=32)
def dialect_named(name: str) -> Dialect:
    """The parser's dialect object, made once."""
    from sqlglot.dialects.dialect import Dialect

    # It warns of every statement that it does not model; the audit lists those itself.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    return Dialect.get_or_raise(name or None)
