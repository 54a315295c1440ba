"""The report of a verification: text, JSON, JUnit XML and one HTML page."""
