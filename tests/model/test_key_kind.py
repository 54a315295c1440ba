"""Kinds of keys, and the ones that people change."""

from __future__ import annotations

import pytest

from setpoint.model.key_kind import KeyKind, key_kind, key_warning, mutable_columns


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ((), None),
        (("customer_id",), KeyKind.SURROGATE),
        (("id",), KeyKind.SURROGATE),
        (("orderKey",), KeyKind.SURROGATE),
        (("isbn",), KeyKind.NATURAL),
        (("country_code",), KeyKind.NATURAL),
        (("email",), KeyKind.NATURAL),
        (("order_date", "region"), KeyKind.COMPOSITE),
        (("…",), KeyKind.NATURAL),
    ],
)
def test_the_kind_of_a_key_is_known_by_its_columns(
    columns: tuple[str, ...], kind: KeyKind | None
) -> None:
    """C1: natural, surrogate and composite keys."""
    assert key_kind(columns) is kind


@pytest.mark.parametrize(
    "column",
    ["email", "Email", "customer_email", "phoneNumberText", "first_name", "homeAddress", "status"],
)
def test_what_people_change_draws_a_warning(column: str) -> None:
    """C1: a changed e-mail address would be a new customer."""
    assert mutable_columns(["tenant_id", column]) == (column,)
    assert column in (key_warning(["tenant_id", column]) or "")


@pytest.mark.parametrize(
    "column",
    ["email_id", "name_hash", "city_code", "phone_number_id", "domain", "filename", "username_key"],
)
def test_what_only_stands_for_it_does_not(column: str) -> None:
    """An id or a hash of something that changes is no warning; nor is a word that contains one."""
    assert key_warning([column]) is None
