"""Input of the link scorer, from a translation model in one forced pass without the vocabulary.

Dimensions: B sentences, S source pieces, T target pieces (without EOS), D d_model.
"""

from __future__ import annotations

from torch.nn import functional

from nmt.alignment.scorer import States
from nmt.batch import Batch
from nmt.models.transformer import Transformer


def read_states(model: Transformer, batch: Batch) -> States:
    """Encode the source and read the whole target.

    Decoder output t predicts target piece t, and output t+1 has read it: the scorer gets both. EOS is left
    out on both sides; a mask that begins one later is as much shorter.

    Args:
        model: whose embeddings are read.
        batch: both sides.

    Returns:
        In the embeddings' precision. The scorer computes in it too: its products are small, and kernels for
        fewer bits are generated for each new shape, which takes longer than they save.
    """
    assert batch.target_out_BT is not None
    assert batch.target_mask_BT is not None
    memory_BSD, hidden_BTD = model.states(batch)
    source_VD, target_VD = model.source_embedding.weight_VD, model.target_embedding.weight_VD
    memory_BSD, hidden_BTD = memory_BSD.to(source_VD.dtype), hidden_BTD.to(target_VD.dtype)
    return States(
        memory_BSD[:, :-1],
        functional.embedding(batch.source_BS[:, :-1], source_VD),
        hidden_BTD[:, :-1],
        hidden_BTD[:, 1:],
        functional.embedding(batch.target_out_BT[:, :-1], target_VD),
        batch.source_BS[:, :-1],
        batch.target_out_BT[:, :-1],
        batch.source_mask_BS[:, 1:],
        batch.target_mask_BT[:, 1:],
    )
