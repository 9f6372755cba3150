"""Other people's engines on our weights: what ours are measured beside."""
