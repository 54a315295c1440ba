"""Sending what the outbox holds: a file a receiver, and the dispatcher that paces them."""
