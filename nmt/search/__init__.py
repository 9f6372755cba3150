"""Search over any StepDecoder: greedy, beam, sampling. Imports no model, engine or tokenizer."""
