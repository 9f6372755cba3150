"""Times of day are found and written in the other language; durations are left alone."""

from __future__ import annotations

import pytest

from nmt.text.times import find_times


@pytest.mark.parametrize(
    ("text", "source", "target", "times"),
    [
        ("9 am to 5:30 pm", "en", "fr", [("9 am", "9 h"), ("5:30 pm", "17 h 30")]),
        ("Le cours est vendredi 18h.", "fr", "en", [("vendredi 18h", "Friday 6 pm")]),
        ("Rendez-vous sam. 20 h 30", "fr", "en", [("sam. 20 h 30", "Sat 8:30 pm")]),
        ("un vendredi 18 h de travail", "fr", "en", []),
        ("Open: 9am-5pm", "en", "fr", [("9am-5pm", "9 h-17 h")]),
        ("9-5 pm", "en", "fr", [("9-5 pm", "9 h-17 h")]),
        ("10:30–11:45 am", "en", "fr", [("10:30–11:45 am", "10 h 30–11 h 45")]),
        ("noon, 12-2 pm or 11-1 pm", "en", "fr", [("12-2 pm", "12 h-14 h"), ("11-1 pm", "11 h-13 h")]),
        ("from 10-2 am", "en", "fr", [("10-2 am", "22 h-2 h")]),
        ("2024-10am and 45-3pm", "en", "fr", []),
        ("At 12 a.m. or 12 p.m. sharp", "en", "fr", [("12 a.m.", "0 h"), ("12 p.m.", "12 h")]),
        ("Be there at 3 p.m.", "en", "fr", [("3 p.m", "15 h")]),
        ("at 8:00AM", "en", "fr", [("8:00AM", "8 h")]),
        ("13 pm, 5:75 pm, 3 amps, $5 a month, I am 5", "en", "fr", []),
        ("Le train est à 14 h 30.", "fr", "en", [("à 14 h 30", "at 2:30 pm")]),
        ("À 8h15, vers 9 h", "fr", "en", [("8h15", "8:15 am"), ("9 h", "9 am")]),
        ("Vers 23 heures, il dort.", "fr", "en", [("Vers 23 heures", "Around 11 pm")]),
        ("de 9 h à 17 h", "fr", "en", [("9 h", "9 am"), ("17 h", "5 pm")]),
        ("de 10 h 30 à midi", "fr", "en", [("10 h 30", "10:30 am")]),
        ("entre 0h et 12h", "fr", "en", [("0h", "12 am"), ("12h", "12 pm")]),
        ("8 h de travail, 35 h par semaine, à 2 h de Paris, de 3 h", "fr", "en", []),
        ("um 5 pm", "de", "fr", []),
        ("Tue-Sat 8 am - 6:15 pm", "en", "fr", [("Tue-Sat 8 am - 6:15 pm", "Mar-sam 8 h - 18 h 15")]),
        ("Open Sunday–Friday: 7 am–noon", "en", "fr", [("Sunday–Friday: 7 am", "dimanche–vendredi : 7 h")]),
        ("Wed 3 pm, Thurs 4 pm", "en", "fr", [("Wed 3 pm, Thurs 4 pm", "Mer 15 h, jeu 16 h")]),
        ("Sam 9 h – 12 h", "fr", "en", [("Sam 9 h – 12 h", "Sat 9 am – 12 pm")]),
        ("mar.-jeu. 10 h-19 h 30", "fr", "en", [("mar.-jeu. 10 h-19 h 30", "Tue-Thu 10 am-7:30 pm")]),
        ("I met Sun 3 times on Mon or Tue.", "en", "fr", []),
        ("La mer est à 3 km, il a 5 h-là", "fr", "en", []),
    ],
)
def test_times_are_found_with_their_translation(
    text: str, source: str, target: str, times: list[tuple[str, str]]
) -> None:
    found = find_times(text, source, target)
    assert [(text[span.start : span.end], written) for span, written in found] == times
