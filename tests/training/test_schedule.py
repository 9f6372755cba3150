import pytest

from training.schedule import build_schedule, cooldown_factor


def test_noam_is_the_papers_formula():
    schedule = build_schedule("noam", 1.0, 4000, 100_000, d_model=512)
    for update in (1, 2000, 4000, 4001, 100_000):
        assert schedule(update) == pytest.approx(512**-0.5 * min(update**-0.5, update * 4000**-1.5))


def test_inverse_sqrt_peaks_at_the_end_of_warm_up():
    schedule = build_schedule("inverse_sqrt", 0.002, 100, 1000, d_model=1)
    assert [schedule(u) for u in (50, 100, 400)] == pytest.approx([0.001, 0.002, 0.001])


@pytest.mark.parametrize(
    ("name", "middle", "end"), [("linear", 0.5, 0.0), ("cosine", 0.5, 0.0), ("constant", 1.0, 1.0)]
)
def test_other_schedules_rise_then_fall_as_named(name: str, middle: float, end: float):
    schedule = build_schedule(name, 1.0, 10, 110, d_model=1)
    assert [schedule(u) for u in (5, 10, 60, 110, 200)] == pytest.approx([0.5, 1.0, middle, end, end])


def test_without_warm_up_the_first_update_has_the_full_rate():
    assert build_schedule("constant", 0.5, 0, 10, d_model=1)(1) == 0.5


def test_cooldown_falls_in_a_straight_line_over_the_last_part():
    assert [cooldown_factor(p, 0.2) for p in (0.0, 0.8, 0.9, 1.0, 1.1)] == pytest.approx([1, 1, 0.5, 0, 0])
    assert cooldown_factor(1.0, 0.0) == 1.0
