"""What tests and scripts share: texts, corpora, faults, stubs and servers. Not part of what is installed."""
