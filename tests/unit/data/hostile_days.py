"""Dates, times and texts that are easily misread, and the attributes that must read them."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

from eke.data import moments
from eke.domain import Attribute, Date, Replace, Rule, Time, Timestamp
from eke.domain.moment_text import clock_form, day_form
from eke.domain.placing import TimeSteps

DAY_TEXTS = [
    *("2013-01-31", "2012-02-29", "2013-02-29", "2013-02-30", "1900-02-29", "2000-02-29"),
    *("0001-01-01", "0000-01-01", "9999-12-31", "9998-12-31", "10000-01-01", "-0044-03-15"),
    *("0044-03-15 BC", "infinity", "-infinity", "today", "epoch", "2013-13-01", "2013-00-10"),
    *("2013-10-00", "2013-01-31 24:00:00", "2013-01-31 23:59:60"),
    *("2013-01-31 23:59:59.999999999", "2013-01-31T05", "2013-01-31 05:00"),
    *("2013-01-31T05:00:00", "2013-01-31  05:00:00", "2013-1-31", "20130131", " 2013-01-31"),
    *("2013-01-31 ", "2013-01-31\n", "2013-01-31\r\n", "2013-01-31\u2028", "2013-01-31;"),
    *("\uff12\uff10\uff11\uff13-01-31", "2013-01-31Z", "2013-01-31T05:00:00Z"),
    *("2013-01-31T05:00:00.25Z", "31.1.2013", "31.01.2013", "30.02.2013", "29.02.2012"),
    *("1.2.2013", "01.02.13", "001.02.2013", "31.01.2013\n", "2013-01-01 04:59:59+00"),
    *("2013-01-01 05:00:00+00:00", "2013-01-01T00:30:00+0530", "2013-01-31T05Z"),
    *("2013-03-10T06:59:59Z", "2013-03-11T03:59:59Z", "2013-03-11T04:00:00Z"),
    *("2013-11-04T04:59:59Z", "2013-11-04T05:00:00Z", "2013-11-03T23:30:00-05:00"),
    *("2013-01-31 23:00 -08", "2013-01-31 23:00+24", "0001-01-01T00:00:00+23:59"),
    *("9999-12-31T23:59:59-23:59", "9998-12-31T23:59:59-00:01", "2013-01-31x"),
    *("1890-01-01T00:00:00+05:54", "1941-10-01T00:00:00+0630", "2013-02-30T05:00:00Z", "NaT"),
    *("2013", "2013-01-31 05:07", "2013-01-31 05:07:59.5", "31.01.2013 05:07", "31.1.2013 5:7"),
    *(
        "2013-03-10T06:59:59Z",
        "2013-03-10T07:00:00Z",
        "2013-11-03T05:30:00Z",
        "05:00",
        "30.02.2013 05:07",
    ),
    *("2013-11-03T06:30:00Z", "1969-12-31 12:00", "1970-01-01 11:59:59.999999999"),
]
_DAYS = [
    *("2013-01-31", "2012-02-29", "2012-02-28", "2012-02-27", "0001-01-01", "9999-12-31"),
    *("2013-12-31", "2014-01-01", "1969-12-31", "1970-01-01", "1999-12-31", "9998-12-31"),
    *("9800-01-01", "9799-12-31", "0002-01-01", "0200-12-31"),
]
_TIMES = [
    *("2013-01-31 00:00:00", "2013-01-31 23:59:59.999999", "1969-12-31 23:59:59"),
    *("1969-12-31 23:59:59.999999", "2013-03-10 06:59:59", "2013-03-11 04:00:00"),
    *("2013-03-11 03:59:59", "2013-11-04 04:59:59", "2013-11-04 05:00:00"),
    *("1889-12-31 18:06:32", "1889-12-31 18:06:31", "2012-12-31 05:00:00"),
    *("1941-09-30 18:30:00", "1945-10-14 17:30:00", "2013-01-01 04:59:59"),
]
DAYS = [None, *map(date.fromisoformat, _DAYS)]
TIMES = [
    None,
    *(datetime.fromisoformat(f"{day} 12:00:00") for day in _DAYS),
    *map(datetime.fromisoformat, _TIMES),
]
IN_UTC = [None if value is None else value.replace(tzinfo=UTC) for value in TIMES]


def dates_with_every_rule() -> list[Attribute]:
    """Days with every rule; of texts in ISO form without a zone, with two, and in a form."""
    rules: list[tuple[Rule, Rule]] = [
        *(("drop", "drop"), ("bucket", "bucket"), ("bucket", "drop"), ("never", "never")),
        *(("drop", "clamp"), ("bucket", "clamp"), (Replace("2013-02-28"), Replace("2013-03-31"))),
    ]
    found: list[Attribute] = [Date("2012-02-28", "2013-12-31", *both) for both in rules]
    for null, outside in rules[1::3]:
        found.append(Date("2012-12-31", "2013-11-04", null, outside, zone="America/New_York"))
        found.append(Date("1890-01-01", "2030-01-01", null, outside, zone="Asia/Kolkata"))
        found.append(Date("1999-12-31", "2013-06-30", null, outside, format="%d.%m.%Y"))
    for null, outside in rules[1::3]:
        found += [
            Timestamp("2012-02-29", "2013-06-30", "hour", null, outside),
            Timestamp("2013-01-31", "2013-01-31", "second", null, outside, zone="UTC"),
            Timestamp(
                *("2012-12-31 05:00", "2013-11-04", "15 minutes", null, outside),
                zone="America/New_York",
            ),
            Timestamp("1941-10-01", "1946-01-01", "hour", null, outside, zone="Asia/Kolkata"),
            Timestamp("1999-12-31", "2013-06-30", "hour", null, outside, format="%d.%m.%Y %H:%M"),
        ]
    return [
        *found,
        Timestamp("1969-12-31 12:00", "1970-01-01 11:00", "hour", "bucket", "clamp"),
        Date("0002-01-01", "0200-12-31", "bucket", "clamp"),
        Date("9800-01-01", "9998-12-31", "bucket", "clamp", zone="UTC"),
        Date("2013-01-31", "2013-01-31", "bucket", "bucket"),
    ]


DATES = dates_with_every_rule()
KEEPING = [a for a in DATES if not a.drops]
"""Those that keep every row: forms and zones whose clocks change among them."""
ZONED: list[Attribute] = [a for a in DATES if getattr(a, "zone", None) is not None]


def bare_parts(column: Any) -> dict[str, Any]:
    """What the branches of a text's CASE work out, without the conditions that guard them.

    None of it may fail on any row, for no engine promises which branches it works out.
    """
    forms = [day_form(form) for form in ("%d.%m.%Y", "%Y%m%d", "%m/%d/%Y %H:%M:%S")]
    hours, clocks = (
        TimeSteps(0, 1, 3600, None, None),
        TimeSteps(0, 1, 60, None, None, is_clock=True),
    )
    told = column + ";"
    return {
        "day": moments._counted(column.left(4), column.substr(5, 2), column.substr(8, 2)),
        "clock": moments._told_clock(column, 11),
        "distance": moments._told_distance(column),
        **{f"form{at}": moments._formed(told, form, hours) for at, form in enumerate(forms)},
        "time": moments._told_clock(column, 0),
        "timeform": moments._formed(told, clock_form("%H.%M"), clocks),
    }


NO_DAYS = [
    *DAY_TEXTS,
    "",
    "\x01",
    ",0,0,0,0,0,0",
    "-" * 40,
    "9" * 5000,
    "\U0001f600" * 30,
    "1e999999",
]
"""Texts for them."""

CLOCKS = [
    None,
    *map(time.fromisoformat, ("00:00", "23:59:59.999999", "08:00", "07:59:59.999999", "20:00")),
    *map(time.fromisoformat, ("08:14:59.999999", "08:15", "12:30:30", "19:59:59.999999")),
]
CLOCK_TEXTS = [
    *("00:00", "08:14:59.999999999", "08:15", "24:00", "23:59:60", "8:15", "08:60", " 08:15"),
    *("08:15\n", "08:15Z", "2013-01-31 08:15", "2013-01-31", "08.15", "8.15", "", "0815", "NaT"),
    "\uff10\uff18:15",
]
TIMES_OF_DAY: list[Attribute] = [
    Time(step="minute", null="bucket", outside="bucket"),
    Time("08:00", "19:45", "15 minutes", "bucket", "clamp"),
    Time("08:00", "19:45", "15 minutes", Replace("09:00"), Replace("10:00")),
    Time(step="second", null="bucket", outside="bucket", format="%H.%M"),
]
