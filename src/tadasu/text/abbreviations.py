"""English words that end with a full stop without ending a sentence, and words that begin one."""

from __future__ import annotations

from tadasu.text.wordlists import word_set

NEVER_LAST = word_set("""
    mr mrs ms mx messrs mme mlle dr prof rev fr gen col lt sgt capt cmdr cpl maj adm gov sen rep pres hon mt ft
    st ste vs v.s e.g i.e eg ie cf viz approx resp incl excl supt insp sr.d asst assoc atty amb ald brig
    """)
"""A name, a number or an example always follows."""

BEFORE_NUMBER = word_set("""
    no nos vol vols p pp pg ch chap sec sect art arts fig figs eq eqs eqn tab tbl ver rev ed eds c ca b d r l ll
    n para par pt app appx ref refs item lot ser s/n p/n ext tel fax ph opp op cl reg temp max min avg est
    """)
"""No sentence ends here when a number follows."""

MAYBE_LAST = word_set("""
    inc ltd co corp llc plc gmbh jr sr esq etc al ave blvd rd hwy dept univ inst bros assn intl natl govt mfg
    tech jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun hr hrs sq
    lb lbs oz ft yd mi cal calif mass conn fla tex wash colo ariz mich minn wis ill pa dist div dir exec gen'l
    orig repr trans bldg rm apt misc spec std qty amt acct ibid seq supp fla
    """)
"""May end a sentence: then a word follows that begins sentences."""

CLOSES = word_set("""
    inc ltd co corp llc plc gmbh jan feb mar apr jun jul aug sep sept oct nov dec ave blvd rd st
    """)
"""Ends a sentence where a whole clause follows: "... is owed to Quill Inc. Rent is due on the first."."""

CLOCK = frozenset(("a.m", "p.m", "am", "pm"))
AFTER_CLOCK = word_set("""
    EST EDT CST CDT MST MDT PST PDT GMT UTC JST CET CEST BST ET CT MT PT Monday Tuesday Wednesday Thursday
    Friday Saturday Sunday January February March April May June July August September October November December
    """)

STARTERS = word_set("""
    The This That These Those He She It They We You In On At A An And But However For If When While After Before
    As There Here Its His Her Their Our My Your Some Many Most Much Few Such Since Although Though Both Each
    Another Other Others One Two Three During By From With Without Within Under Over According Also Later Then
    Thus Therefore Moreover Furthermore What Who Where Why How Which Do Does Did Is Are Was Were Has Have Had
    Can Could Will Would Should May Not No Today To Please Because Once Only Every All Any Between Until Through
    About Despite Unlike Like Having Following Instead Meanwhile Nevertheless First Second Third Finally Next
    Now Yet Or So Even Just More Several Still Additionally Consequently Hence Similarly Overall Nobody Everyone
    Everything Nothing Someone Something Never Always Often Sometimes Perhaps Maybe Yesterday Tomorrow Soon
    Recently Currently Originally Initially Eventually Especially Note See Use Check
    """)

SHOUTED = frozenset(("yahoo", "jeopardy", "joomla", "oliver", "wham", "kahoot", "panic", "mamma mia"))
"""Names written with an exclamation mark."""

SPEECH = (
    "said|says|asked|asks|replied|answered|shouted|cried|whispered|wrote|added|exclaimed|continued|muttered|called|told"
    "|explained|demanded|insisted|remarked|observed|thought|yelled|inquired|screamed|noted|laughed|sighed"
)
"""Verbs that tie the words before a closing quote to the words after it."""
