"""What computes translations, apart from what answers requests: in a process of its own, or in a thread."""
