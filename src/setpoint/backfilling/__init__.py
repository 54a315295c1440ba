"""Setting a range of history again: planned, coalesced, watched, resumed, published."""
