"""Several sources: two softmaxes written out, and what is empty or hidden."""

from __future__ import annotations

import torch

from nmt.layers.document_context import DocumentContext
from nmt.layers.feed_forward import FeedForward
from nmt.layers.hierarchical_attention import HierarchicalAttention, source_masks, source_numbers

SEPARATOR = 9


def test_a_separator_ends_its_source():
    ids_BS = torch.tensor([[5, 9, 6, 7, 9, 8], [5, 6, 9, 7, 0, 0]])
    number_BS = source_numbers(ids_BS, SEPARATOR)
    assert number_BS.tolist() == [[0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1]]
    mask_B1KS = source_masks(number_BS, ids_BS != 0)
    assert mask_B1KS.shape == (2, 1, 3, 6)
    assert mask_B1KS[1, 0].long().tolist() == [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0] * 6]


def test_words_of_a_source_share_one_softmax_and_sources_another():
    torch.manual_seed(1)
    attention = HierarchicalAttention(8, 2).eval()
    x_BTD, memory_BSD = torch.randn(1, 3, 8), torch.randn(1, 5, 8)
    number_BS, mask_BS = torch.tensor([[0, 0, 1, 1, 1]]), torch.tensor([[True] * 4 + [False]])
    memory = attention.project(memory_BSD)
    mask_B1KS = source_masks(number_BS, mask_BS)
    output_BTD, weights_BHTS = attention.forward_with_weights(x_BTD, memory, mask_B1KS)
    query_BHTE = attention._split_heads(attention.query(x_BTD))
    expected_BHTE = torch.zeros_like(query_BHTE)
    for h in range(2):
        for t in range(3):
            q_E = query_BHTE[0, h, t]
            contexts, shares = [], []
            for first, end in ((0, 2), (2, 4)):
                key_SE, value_SE = (part[0, h, first:end] for part in memory)
                words_S = (key_SE @ q_E / 2).softmax(0)
                contexts.append(words_S @ value_SE)
                shares.append(words_S)
            both_KE = torch.stack(contexts)
            sources_K = (attention.source_key(both_KE) @ q_E / 2).softmax(0)
            expected_BHTE[0, h, t] = sources_K @ both_KE
            expected_S = torch.cat([share * words for share, words in zip(sources_K, shares, strict=True)])
            torch.testing.assert_close(weights_BHTS[0, h, t, :4], expected_S)
    torch.testing.assert_close(output_BTD, attention._merge_heads(expected_BHTE))
    assert not weights_BHTS[..., 4].any()
    with torch.no_grad():
        torch.testing.assert_close(attention(x_BTD, memory, mask_B1KS), output_BTD)


def test_an_empty_source_changes_nothing_and_leaves_gradients_sound():
    torch.manual_seed(2)
    attention = HierarchicalAttention(8, 2)
    x_BTD, memory_BSD = torch.randn(2, 3, 8), torch.randn(2, 4, 8, requires_grad=True)
    number_BS, mask_BS = torch.tensor([[0, 0, 0, 0], [0, 0, 1, 1]]), torch.ones(2, 4, dtype=torch.bool)
    memory = attention.project(memory_BSD)
    output_BTD, _ = attention.forward_with_weights(x_BTD, memory, source_masks(number_BS, mask_BS))
    alone_BTD, _ = attention.forward_with_weights(
        x_BTD[:1], attention.project(memory_BSD[:1]), torch.ones(1, 1, 1, 4, dtype=torch.bool)
    )
    torch.testing.assert_close(output_BTD[:1], alone_BTD)
    output_BTD.sum().backward()
    assert torch.isfinite(memory_BSD.grad).all()


def test_a_sentence_without_any_before_it_stays_as_it_is():
    torch.manual_seed(3)
    context = DocumentContext(HierarchicalAttention(8, 2), FeedForward(8, 16), 8).eval()
    memory_BSD = torch.randn(2, 4, 8)
    before_B1KS = source_masks(
        torch.tensor([[0, 0, 1, 1], [0, 0, 0, 0]]),
        torch.tensor([[True, True, False, False], [False] * 4]),
    )
    read_BSD = context(memory_BSD, before_B1KS)
    torch.testing.assert_close(read_BSD[1], memory_BSD[1])
    assert (read_BSD[0] - memory_BSD[0]).abs().max() > 1e-2
    changed_BSD = memory_BSD.clone()
    changed_BSD[0, 3] += 1  # a word of the sentence itself tells the others nothing here
    torch.testing.assert_close(context(changed_BSD, before_B1KS)[0, :3], read_BSD[0, :3])
