"""What names tell: which columns are audit stamps, partitions or keys, which tables are logs."""

from __future__ import annotations

import re
from functools import lru_cache

_AUDIT = re.compile(
    r"""(?x)
    ^_?(?:dbt|etl|dw|dwh|edw|meta|sys|audit|row|rec|record|dss|hk|md|dv|src|pipeline|job|ingest)_.*
        (?:at|ts|time|timestamp|on|date|dt|dttm|dts|datetime|utc)$
  | (?:^|_)(?:load(?:ed)?|insert(?:ed|ion)?|creat(?:e|ed|ion)|updat(?:e|ed)|upd
        |modif(?:y|ied|ication)
        |ingest(?:ed|ion)?|process(?:ed|ing)?|refresh(?:ed)?|extract(?:ed|ion)?|sync(?:ed)?|synced
        |import(?:ed)?|export(?:ed)?|scrap(?:ed|e)|crawl(?:ed)?|fetch(?:ed)?|collect(?:ed|ion)?
        |generat(?:ed|ion)|calculat(?:ed|ion)|comput(?:ed|ation)|execut(?:ed|ion)|built|build
        |transform(?:ed|ation)?|publish(?:ed)?|written|write|stag(?:ed|ing)|chang(?:ed|e)
        |delet(?:ed|e|ion)|touch(?:ed)?|captur(?:ed|e)|received|last_(?:updated?|modified|changed|seen)
        |add(?:ed)?|archiv(?:ed|e)|complet(?:ed|ion)|finish(?:ed)?|start(?:ed)?|retriev(?:ed|al)
        |query|download(?:ed)?|analy[sz]ed|scored|predict(?:ed|ion)?|validat(?:ed|ion)|enriched)
        _?(?:at|ts|time|timestamp|time_?stamp|on|date|dt|dttm|dts|datetime|date_?time|utc|tm)
        (?:_?(?:utc|ts|tz|time|ltz|ntz|at))?$
  | ^(?:last_?updated?|last_?modified|last_?refreshed?|updated|created|inserted|timestamp
        |time_?stamp|loaddts|ldts|load_dts|loadtime|createdat|updatedat|created_?on|insertdate|loaddate
        |modified|modifieddate|createddate|updateddate|sysdate|rundatetime|run_at|run_ts
        |run_time(?:stamp)?|as_at_time|elt_ts|ingestdate|datemodified|datecreated)$
    """,
    re.IGNORECASE,
)
_PARTITION = re.compile(
    r"""(?x)
    ^_?(?:ds|dt|pt|p_date|p_dt|dt_part|partition(?:_?\w+)?|part_(?:date|dt|day|hour|month|year)
      |date(?:_?key|_?id|_?partition)?|day|hour|month|year|week|yyyymmdd|ymd
      |snapshot(?:_?(?:date|dt|day|at|ts|time|month))?|snap_?date
      |run_?(?:date|dt|day)|batch_?(?:date|dt|day|id)|report(?:ing)?_?(?:date|dt|day|month)
      |as_?of(?:_?(?:date|dt))?|asof|process(?:ing)?_?day|business_?(?:date|day)|biz_?date
      |event_?(?:date|day)|calendar_?date|stat_?date|data_?date|etl_?day|effective_?day
      |ingest(?:ion)?_?(?:day|date|dt|hour)|load_?(?:day|year|month)|file_?date
      |year_?month|date_?hour|logical_?date|execution_?date|period|month_?(?:key|id|start|end)?)$
    """,
    re.IGNORECASE,
)
_KEY = re.compile(
    r"(?:^|_)(?:id|key|sk|pk|uuid|guid|uid|hk|surrogate)$"
    r"|^(?:id|sk|pk|uuid|guid|hk)(?:_|$)|[a-z](?:Id|ID|Key|SK)$|_id_",
)
_ROW_KEY = re.compile(
    r"(?:^|_)(?:id|key|sk|pk|surrogate|skey|wid|seq_id|uid)$|[a-z](?:Id|ID|Key|SK|Sk)$"
    r"|^(?:sk|pk|id)_|^(?:id|surrogatekey)$",
)
_MUTABLE = re.compile(
    r"(?:^|_)(?:e_?mail(?:_?(?:address|addr|id))?|phone(?:_?(?:number|no|num))?"
    r"|mobile(?:_?(?:number|no))?"
    r"|telephone|address|full_?name|first_?name|last_?name|sur_?name|display_?name|nick_?name"
    r"|user_?name|customer_?name|employee_?name|company_?name|product_?name|name|login|title)$",
    re.IGNORECASE,
)
_IDENTIFYING = re.compile(
    r"(?:^|_)(?:table|schema|column|field|index|constraint|database|db|catalog|file|bucket|object"
    r"|host|server|topic|queue|stream|job|task|dag|pipeline|model|metric|feature|variable|param"
    r"|parameter|property|setting|config|event|package|module|function|class|domain|tag|label"
    r"|currency|country|branch|repo|repository)_?name$",
    re.IGNORECASE,
)
"""Names that a machine goes by: another name is another thing."""
_STABLE = re.compile(
    r"(?:^|_)(?:id|ids|key|sk|pk|uuid|guid|code|hash|number|no|num|nk|bk|hk|sku|isbn|ticker|symbol"
    r"|date|dt|ds|day|hour|week|month|year|ts|time|timestamp|at)$|(?:Id|ID|Key)$",
)
_STAMP = re.compile(
    r"^_?(?:dbt_(?:updated|loaded|run)_at|load(?:ed)?_(?:at|ts|time|timestamp|datetime|dts)"
    r"|ingest(?:ed|ion)?_(?:at|ts|time|timestamp)|insert(?:ed)?_(?:at|ts|time|timestamp)"
    r"|processed_(?:at|ts)|etl_\w*(?:at|ts|time|timestamp)|run_(?:at|ts|time|timestamp))$",
    re.IGNORECASE,
)
_CURSOR = re.compile(
    r"(?:^|_)(?:last_?(?:run|sync(?:ed)?|sync_?\w+|run_?\w+|extract(?:ed|ion)?(?:_?\w+)?"
    r"|load(?:ed)?(?:_?\w+)?"
    r"|process(?:ed)?(?:_?\w+)?|fetch(?:ed)?(?:_?\w+)?|poll(?:ed)?(?:_?\w+)?"
    r"|success(?:ful)?(?:_?\w+)?"
    r"|pull(?:ed)?(?:_?\w+)?|execution(?:_?\w+)?|import(?:ed)?(?:_?\w+)?|ingest(?:ed"
    r"|ion)?(?:_?\w+)?|cursor|value|date"
    r"|exec(?:uted|_?\w+)?|check(?:ed)?(?:_?\w+)?|crawl(?:ed)?(?:_?\w+)?|scraped?(?:_?\w+)?"
    r"|export(?:ed)?(?:_?\w+)?)"
    r"|high_?water(?:_?mark)?|hwm|water_?mark(?:_?\w+)?|cursor(?:_?\w+)?|bookmark(?:_?\w+)?"
    r"|checkpoint(?:_?\w+)?|cutoff(?:_?\w+)?|max_?(?:processed|loaded)_?\w+|(?<!idle_)(?<!alive_)(?<!member_)(?<!up_)since)$",
    re.IGNORECASE,
)
_STATE_TABLE = re.compile(
    r"(?:^|[_.])(?:water_?marks?|hwm|cursors?|bookmarks?|checkpoints?|etl_?(?:control|state"
    r"|config)|control"
    r"|sync_?(?:state|status|control)|pipeline_?state|state|load_?control|job_?control"
    r"|batch_?control)(?:$|_)",
    re.IGNORECASE,
)
_RUN_WORDS = (
    r"(?:etl|elt|dbt|job|load|loading|run|task|process|processing|batch|dag|pipeline|query|sync"
    r"|import|"
    r"ingest|ingestion|execution|exec|migration|backup|airflow|workflow|transfer|refresh|package"
    r"|step|"
    r"script|schedule|scheduler|data_?load|data_?pipeline|dwh|dw|procedure|proc|file|audit|error|"
    r"alert|monitor|monitoring|system|debug|status|inference|request|response)s?"
)
_LOG_TABLE = re.compile(
    rf"(?:^|[_.])(?:{_RUN_WORDS}_?(?:logs?|logging|history|histories|runs?|status|stats|audits?|"
    r"metadata|control|tracking|tracker|errors?|metrics|info|registry|state|trail)"
    r"|audit_?(?:table|entry|entries|events?)|error_?(?:table|records|rows)"
    r"|heartbeats?|dead_?letters?|dlq|quarantine|rejects?|rejected(?:_\w+)?|bad_?(?:records|rows)"
    r"|data_?quality(?:_?\w+)?|quality_(?:results?|checks?|table)|dq_\w+|test_?results"
    r"|schema_?(?:version|migrations?|history)"
    r"|processed_(?:files?|events?|messages?|ids?|batches?)|water_?marks?|checkpoints?|cursors?"
    r"|bookmarks?|flyway\w*|databasechangelog|alembic_version|metadata|errors?)$"
    r"|^(?:\w+\.)*(?:logs?|logging|audits?|monitoring|log_\w+)$|^(?:\w+\.)?(?:logs?|logging"
    r"|monitoring)\.",
    re.IGNORECASE,
)
_LOOSE_LOG = re.compile(
    r"(?:^|[_.])(?:logs?|audits?|logging|history|tracking|metrics|runs?)(?:$|_)|log$"
)
_TEMP_TABLE = re.compile(
    r"(?:^|[_.])(?:te?mp|temporary|scratch|pg_temp)(?:\d*)(?:$|[_.])|(?:_te?mp|^te?mp)\d*$|^[#@]"
    r"|\.#",
    re.IGNORECASE,
)
_TEMP_HOLE = re.compile(r"\{[^{}]*(?:temp|tmp)_?(?:table|tbl|name)[^{}]*\}$", re.IGNORECASE)
"""A name that only the run knows, from a variable that says what it is for."""
_ORDINALS = frozenset({"rn", "rownum", "row_num", "row_number", "row_no", "rnk", "rank", "seqnum"})
_NAMELESS = re.compile(r"(?:\w+://)?(?:[\s.\"'`$\[\]/]|\{[^{}]*\}|__h\d+__)*")
_ATTEMPTS = re.compile(
    r"(?:^|_)(?:attempts?(?:_?count)?|retr(?:y|ies)(?:_?count)?|tries|versions?|revision|rev|lock_?version"
    r"|run_?count"
    r"|fail(?:ure|ed|s)?(?:_?count)?|error_?count)$",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@lru_cache(maxsize=4096)
def words(name: str) -> frozenset[str]:
    """The lower-case words of an identifier or path, split at case changes and punctuation."""
    return frozenset(word.lower() for word in _WORDS.findall(name))


def bare(column: str) -> str:
    """The column without its table and quotes."""
    return column.rsplit(".", 1)[-1].strip("`\"[]' ")


def is_audit_column(column: str) -> bool:
    """Whether the column only says when or by whom a row was written."""
    name = bare(column)
    return bool(_AUDIT.search(name)) and not is_cursor(name)


def is_partition_column(column: str) -> bool:
    """Whether the name is one that tables are partitioned or keyed by in time."""
    return bool(_PARTITION.search(bare(column)))


def is_key_column(column: str) -> bool:
    """Whether the name is that of an identifier."""
    return bool(_KEY.search(bare(column)))


def is_surrogate(column: str) -> bool:
    """Whether a numbered column of this name would serve as a key."""
    return bool(_ROW_KEY.search(bare(column)))


def is_mutable(column: str) -> bool:
    """Whether the column's value changes over the life of the entity it names."""
    name = bare(column)
    return bool(_MUTABLE.search(name)) and not _IDENTIFYING.search(name)


def is_stable(column: str) -> bool:
    """Whether the column's name promises a value that stays."""
    return bool(_STABLE.search(bare(column)))


def is_write_stamp(column: str) -> bool:
    """Whether the column holds the moment of the load itself."""
    return bool(_STAMP.search(bare(column)))


def is_cursor(column: str) -> bool:
    """Whether the name is that of a stored cursor or watermark."""
    return bool(_CURSOR.search(bare(column)))


def is_attempt_counter(column: str) -> bool:
    """Whether a counter of this name is meant to grow with each try."""
    return bool(_ATTEMPTS.search(bare(column)))


def is_state_table(table: str) -> bool:
    """Whether the table keeps cursors of pipelines."""
    return bool(_STATE_TABLE.search(table))


def is_log_table(table: str) -> bool:
    """Whether the table is a log, an audit trail or metadata of runs: one row a run."""
    return bool(_LOG_TABLE.search(table))


def may_be_log_table(table: str) -> bool:
    """Whether single rows written to the table are likely entries of a log."""
    return bool(_LOG_TABLE.search(table) or _LOOSE_LOG.search(table))


def is_temporary_table(table: str) -> bool:
    """Whether the name is that of a table that does not outlive its run."""
    return bool(_TEMP_TABLE.search(table.strip("{}\"'`")) or _TEMP_HOLE.search(table))


def is_nameless(table: str) -> bool:
    """Whether the code names no part of the table: all of it comes from variables."""
    return bool(_NAMELESS.fullmatch(table))


def same_table(one: str, other: str) -> bool:
    """Whether two names can mean one table: equal, or one a dotted suffix of the other."""
    if not one or not other:
        return False
    one, other = one.rstrip("/"), other.rstrip("/")
    if one == other or one.endswith(f".{other}") or other.endswith(f".{one}"):
        return True
    # A mapped class is often the singular of its table's name.
    return one.rstrip("s").replace("_", "") == other.rstrip("s").replace("_", "")


def is_ordinal(column: str) -> bool:
    """Whether the name says that a column only counts rows off."""
    return bare(column).lower() in _ORDINALS


def is_warehouse_key(column: str) -> bool:
    """Whether the name is that of a surrogate key of a warehouse."""
    return bool(
        re.search(r"_(?:sk|key|skey|wid|surrogate_?key)$|[a-z](?:SK|Key)$|^sk_", bare(column))
    )


def is_warehouse_table(table: str) -> bool:
    """Whether the table's name or schema is one of a warehouse."""
    pattern = (
        r"(?:^|[._])(?:dim|fact|fct|dims|facts|dwh?|edw|mart|star|gold|silver)(?:$|[._])"
        r"|(?:^|[._])(?:hub|sat|lnk)_"
    )
    return bool(re.search(pattern, table.lower()))
