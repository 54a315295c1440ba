"""Testing one's own pipelines: fixtures and assertions for pytest."""
