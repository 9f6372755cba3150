"""Building blocks of the models, one concept a file; plain numbers in, tensors out."""
