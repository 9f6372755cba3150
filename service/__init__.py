"""The REST service and its web page. Imports nmt.translator, nmt.errors and nmt.config only."""
