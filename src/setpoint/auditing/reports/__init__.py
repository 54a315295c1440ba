"""The outputs of an audit: one file an output, each a pure function of the outcome."""
