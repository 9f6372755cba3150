"""What outlives a request: keys, usage, glossaries, memories, alignments, documents. SQLite or PostgreSQL."""
