"""Fair queueing: parties get equal tokens, requests of one party take turns, and pauses earn nothing."""

from __future__ import annotations

from collections import Counter

from nmt.batching.fair_queue import FairQueue


def test_parties_are_served_equal_numbers_of_tokens_however_much_they_ask_for():
    queue: FairQueue[str] = FairQueue()
    for _ in range(100):
        queue.put("greedy", "r1", "greedy", 10)
        queue.put("greedy", "r2", "greedy", 10)
    for _ in range(30):
        queue.put("modest", "r3", "modest", 5)
    served = Counter()
    for _ in range(45):
        name = queue.pop()
        served[name] += 10 if name == "greedy" else 5
    assert abs(served["greedy"] - served["modest"]) <= 10


def test_requests_of_one_party_take_turns_and_each_keeps_its_order():
    queue: FairQueue[str] = FairQueue()
    for index in range(3):
        queue.put("party", "long", f"long {index}", 1)
    queue.put("party", "short", "short 0", 1)
    queue.put("party", "long", "again", 1, first=True)
    assert [queue.pop() for _ in range(6)] == ["again", "short 0", "long 0", "long 1", "long 2", None]


def test_who_pauses_saves_up_nothing_and_who_rushed_ahead_stays_ahead():
    queue: FairQueue[str] = FairQueue()
    for _ in range(50):
        queue.put("steady", "r", "steady", 10)
    queue.put("late", "l", "late", 300)
    for _ in range(20):
        queue.pop()
    queue.put("late", "l", "late", 10)
    queue.put("new", "n", "new", 10)
    queue.put("new", "n", "new", 10)
    order = [queue.pop() for _ in range(28)]
    assert order[:3].count("new") <= 2, "a newcomer starts where the others are"
    assert "new" in order[:3]
    assert "late" not in order[:5], "300 tokens are not forgotten by coming back"


def test_what_does_not_fit_keeps_its_turn():
    queue: FairQueue[str] = FairQueue()
    queue.put("a", "r", "large", 50)
    queue.put("a", "s", "small", 1)
    assert queue.pop(room_tokens=10) is None
    assert queue.pop(room_tokens=50) == "large"


def test_dropped_requests_are_gone():
    queue: FairQueue[str] = FairQueue()
    queue.put("a", "r", "one", 1)
    queue.put("a", "s", "two", 1)
    queue.put("b", "t", "three", 1)
    queue.drop("r")
    queue.drop("t")
    assert len(queue) == 1
    assert queue.pop() == "two"
    assert len(queue) == 0
    assert queue.pop() is None


def test_a_party_that_pays_more_gets_less_and_all_when_it_is_alone():
    queue: FairQueue[str] = FairQueue()
    for _ in range(90):
        queue.put("cheap", "r", "cheap", 10)
        queue.put("dear", "s", "dear", 10, price=8.0)
    served = Counter(queue.pop() for _ in range(90))
    assert served["dear"] == 10
    assert served["cheap"] == 80
    rest = Counter(queue.pop() for _ in range(90))
    assert rest == {"cheap": 10, "dear": 80}
