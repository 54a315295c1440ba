"""Proof: what a task or a script leaves behind, run again under every condition that matters."""
