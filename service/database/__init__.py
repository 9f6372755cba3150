"""Storage: keys, usage, glossaries, memories, alignments, documents. SQLite or PostgreSQL."""
