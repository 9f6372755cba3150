"""What outlives a request: keys, usage, rates, glossaries, memories, alignments, documents. SQLite or PostgreSQL."""
