"""What outlives a request: keys, usage, rates, glossaries, alignments, documents. SQLite or PostgreSQL."""
