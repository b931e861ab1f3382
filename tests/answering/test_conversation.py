from __future__ import annotations

import itertools
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.answering.conversation import own_words, standalone
from tadasu.text.analyze import content_terms
from tadasu.text.normalize import fold
from tests.storage.some_runs import everyday_run

SAME = ""
"""The turn is searched for as it was written, byte for byte."""

Dialogue = list[tuple[str, str]]


def asked(dialogue: Dialogue) -> list[tuple[str, str]]:
    """The queries that follow from the turns, each with what the one before was searched for."""
    queries: list[str] = []
    for question, _ in dialogue:
        queries.append(standalone(question, queries))
    return [
        (question, SAME if query == question else query) for (question, _), query in zip(dialogue, queries, strict=True)
    ]


REPORTED: dict[str, Dialogue] = {
    "en: thanks, another group, a pronoun": [
        ("How many days of annual leave do full-time employees get?", SAME),
        ("thanks!", SAME),
        ("And part-time employees?", "How many days of annual leave do part-time employees get?"),
        ("Can they be carried over?", "annual leave: Can they be carried over?"),
    ],
    "ja: thanks, another group, no subject": [
        ("正社員の年次有給休暇は何日ですか？", SAME),
        ("ありがとう！", SAME),
        ("パート社員は？", "パート社員の年次有給休暇は何日ですか？"),
        ("繰り越せますか？", "パート社員の年次有給休暇: 繰り越せますか？"),
    ],
    "en: another code, then a complete question, then another language": [
        ("How high can the FL-25 lift?", SAME),
        ("And of the FL-50?", "How high can the FL-50 lift?"),
        ("how high can it lift?", "FL-50: how high can it lift?"),
        ("Who founded the company?", SAME),
        ("そのVPNのゲートウェイは何ですか", SAME),
    ],
    "ja: another code, then a complete question, then another language": [
        ("FL-25の最大揚高は何mですか？", SAME),
        ("FL-50は？", "FL-50の最大揚高は何mですか？"),
        ("それは電動ですか？", "FL-50は電動ですか？"),
        ("会社は誰が設立しましたか？", SAME),
        ("What is the gateway of the VPN?", SAME),
    ],
    "a Japanese question after an English one with names": [
        ("Which customers are on the Express EU tariff?", SAME),
        ("国内出張の宿泊費の上限はいくらですか", SAME),
        ("日当は？", "国内出張の日当の上限はいくらですか"),
        ("海外は？", "海外出張の日当の上限はいくらですか"),
    ],
    "ja: per diem, lodging, a city, thanks": [
        ("国内出張の日当はいくらですか", SAME),
        ("宿泊費は？", "国内出張の宿泊費はいくらですか"),
        ("東京の場合は？", "東京の場合、国内出張の宿泊費はいくらですか"),
        ("大阪は？", "大阪の場合、国内出張の宿泊費はいくらですか"),
        ("ありがとう", SAME),
    ],
    "en: two subjects": [
        ("What is the speed limit for forklifts inside the yard?", SAME),
        ("Who is the chief executive?", SAME),
    ],
    "ja: two subjects": [
        ("構内のフォークリフトの制限速度は何km/hですか", SAME),
        ("社長は誰ですか", SAME),
    ],
}

MORE: dict[str, Dialogue] = {
    "en: incidents": [
        ("What happened in INC-2291?", SAME),
        ("How long did it last?", "INC-2291: How long did it last?"),
        ("And INC-2304?", "INC-2304: How long did it last?"),
        ("What was the cause?", "INC-2304: What was the cause?"),
        ("Who was informed?", "INC-2304: Who was informed?"),
    ],
    "ja: an instrument": [
        ("PT-300は何を測りますか？", SAME),
        ("その保証期間は？", "PT-300の保証期間は？"),
        ("費用はいくらですか？", "PT-300の費用はいくらですか？"),
        ("では納期は？", "PT-300の納期は？"),
        ("LD-90は？", "LD-90の納期は？"),
        ("それはどこで作られていますか", "LD-90はどこで作られていますか"),
    ],
    "en: an instrument": [
        ("What does the PT-300 measure?", SAME),
        ("How long is its warranty?", "PT-300: How long is its warranty?"),
        ("What about the LD-90?", "LD-90: How long is its warranty?"),
        ("And in Germany?", "LD-90: How long is its warranty, in Germany?"),
        ("And in France?", "LD-90: How long is its warranty, in France?"),
    ],
    "ja: a vehicle": [
        ("Volta E2の航続距離は何kmですか", SAME),
        ("充電時間は？", "Volta E2の充電時間は？"),
        ("Volta E3は？", "Volta E3の充電時間は？"),
        ("How many vans are electric?", SAME),
        ("And diesel?", "How many vans are diesel?"),
    ],
    "en: a vehicle": [
        ("What is the range of the Volta E2?", SAME),
        ("And the charging time?", "Volta E2: And the charging time?"),
        ("What about the Volta E3?", "Volta E3: And the charging time?"),
        ("電動のバンは何台ありますか", SAME),
        ("ディーゼルは？", "ディーゼルのバンは何台ありますか"),
    ],
    "en: depots": [
        ("Who is the landlord of the Antwerp depot?", SAME),
        ("And Rotterdam?", "Who is the landlord of the Rotterdam depot?"),
        ("What about the Kawasaki office?", "Who is the landlord of the Kawasaki office?"),
        ("How many vans are parked there in total?", SAME),
    ],
    "ja: depots": [
        ("横浜倉庫の営業時間は？", SAME),
        ("福岡倉庫は？", "福岡倉庫の営業時間は？"),
        ("住所は？", "福岡倉庫の住所は？"),
        ("冷蔵はありますか", SAME),
        ("川崎倉庫の場合は？", "川崎倉庫の場合、冷蔵はありますか"),
    ],
    "en: sick leave": [
        ("What does sick leave require?", SAME),
        ("Are interns entitled to sick leave?", SAME),
        ("Is there a deadline?", "sick leave: Is there a deadline?"),
        ("What about parental leave?", "parental leave: Is there a deadline?"),
        ("Why?", "parental leave: Is there a deadline? Why?"),
    ],
    "ja: leave": [
        ("年次有給休暇は何日ですか？", SAME),
        ("誰が承認しますか？", "年次有給休暇: 誰が承認しますか？"),
        ("育児休業は？", "育児休業: 誰が承認しますか？"),
        ("期限は？", "育児休業の期限は？"),
        ("どうもありがとうございました。", SAME),
    ],
    "en: remote work": [
        ("Can remote work be done from abroad?", SAME),
        ("Who decides?", "remote work: Who decides?"),
        ("ok, thanks", SAME),
        ("How many days per year?", "remote work: How many days per year?"),
        ("Is a laptop provided by the company?", SAME),
    ],
    "ja: remote work": [
        ("在宅勤務は週に何日まで認められますか", SAME),
        ("申請方法は？", "在宅勤務の申請方法は？"),
        ("了解です", SAME),
        ("契約社員も同じですか？", "契約社員の場合、在宅勤務の申請方法は？"),
        ("パソコンは会社から貸与されますか", SAME),
    ],
    "en: backups": [
        ("What is the retention period for backups?", SAME),
        ("And for logs?", "What is the retention period for logs?"),
        ("Where is the canteen?", SAME),
        ("And on weekends?", "Where is the canteen, on weekends?"),
        ("And on holidays?", "Where is the canteen, on holidays?"),
    ],
    "ja: passwords": [
        ("VPNのパスワードは何文字以上ですか", SAME),
        ("有効期限は？", "VPNのパスワードの有効期限は？"),
        ("変更方法は？", "VPNのパスワードの変更方法は？"),
        ("アカウントがロックされたとき、それを解除するのは誰ですか", SAME),
    ],
    "en: passwords": [
        ("How do I reset my VPN password?", SAME),
        ("What if I forget my security key?", SAME),
        ("If the VPN fails, how do I restart it?", SAME),
        ("Does the company publish its accounts?", SAME),
        ("Is it possible to work from home on Fridays?", SAME),
    ],
    "en: years": [
        ("How many vans did the company buy in 2023?", SAME),
        ("And in 2024?", "How many vans did the company buy in 2024?"),
        ("Great!", SAME),
        ("2025?", "How many vans did the company buy in 2025?"),
    ],
    "ja: years": [
        ("2023年度の売上高はいくらですか", SAME),
        ("2024年度は？", "2024年度の売上高はいくらですか"),
        ("なるほど", SAME),
        ("2025年度の場合は？", "2025年度の売上高はいくらですか"),
    ],
    "en: keywords": [
        ("tell me about the forklift FL-25", SAME),
        ("and its weight?", "FL-25: and its weight?"),
        ("weight of the FL-50", SAME),
        ("price?", "FL-50: price?"),
        ("FL-60?", "FL-60: price?"),
    ],
    "names cross a change of language, words do not": [
        ("How much does the FL-25 weigh?", SAME),
        ("その価格は？", "FL-25の価格は？"),
        ("国内出張の日当はいくらですか", SAME),
        ("How is it paid?", SAME),
    ],
    "en: people": [
        ("Who is the landlord of the Antwerp depot?", SAME),
        ("When did he buy it?", "landlord of the Antwerp depot: When did he buy it?"),
        ("By the way, who founded the company in 1974?", SAME),
        ("bye", SAME),
    ],
    "ja: people": [
        ("アントワープ倉庫の責任者は誰ですか", SAME),
        ("彼はいつ入社しましたか", "アントワープ倉庫の責任者: 彼はいつ入社しましたか"),
        ("ところで、会社は何年に設立されましたか", SAME),
        ("さようなら", SAME),
    ],
    "en: who is on call": [
        ("Who is on call this week?", SAME),
        ("What about next week?", "Who is on call next week?"),
        ("What is a security key?", SAME),
        ("Is it free?", "security key: Is it free?"),
    ],
    "en: tariffs": [
        ("What does the tariff Express EU cost?", SAME),
        ("and Economy EU?", "What does the tariff Economy EU cost?"),
        ("Which is cheaper?", "tariff Economy EU: Which is cheaper?"),
        ("and for bulk customers", "tariff Economy EU: Which is cheaper, for bulk customers?"),
    ],
    "ja: travel": [
        ("新幹線は何km以上で使えますか", SAME),
        ("タクシーは？", "タクシーは何km以上で使えますか"),
        ("領収書は何年保管しますか", SAME),
        ("誰に提出しますか", "領収書: 誰に提出しますか"),
        ("それを無くした場合は？", "領収書を無くした場合は？"),
    ],
    "en: only a question word": [
        ("Who founded the company?", SAME),
        ("When?", "Who founded the company? When?"),
        ("Why?", "Who founded the company? Why?"),
        ("Can annual leave be carried over?", SAME),
        ("And until when?", "Can annual leave be carried over? And until when?"),
    ],
    "ja: only a question word": [
        ("会社を設立したのは誰ですか", SAME),
        ("いつですか？", "会社を設立したのは誰ですか。いつですか？"),
        ("なぜですか？", "会社を設立したのは誰ですか。なぜですか？"),
        ("有給休暇は翌年に繰り越せますか？", SAME),
        ("いつまでですか", "有給休暇は翌年に繰り越せますか？いつまでですか"),
    ],
    "en: small talk first": [
        ("hello", SAME),
        ("What can you do?", SAME),
        ("How long is its warranty?", SAME),
        ("?", SAME),
    ],
    "ja: small talk first": [
        ("こんにちは", SAME),
        ("何ができますか？", SAME),
        ("その保証期間は？", SAME),
        ("？", SAME),
    ],
}


@pytest.mark.parametrize("name", REPORTED)
def test_what_a_new_user_reported_is_put_right(name: str) -> None:
    assert asked(REPORTED[name]) == REPORTED[name]


@pytest.mark.parametrize("name", MORE)
def test_a_turn_takes_what_it_lacks_from_the_turn_before_and_no_more(name: str) -> None:
    assert asked(MORE[name]) == MORE[name]


COMPLETE = [
    "Who founded the company?",
    "Who is the chief executive?",
    "How long is the warranty period of the LD-90 in Germany?",
    "And who founded the company in 1974?",
    "Does the company publish its accounts?",
    "What is the per diem for domestic trips?",
    "Which documents do those who work at night need?",
    "How long does it take to import a profile?",
    "Are there parking spaces at the Rotterdam office?",
    "How do employees book a meeting room?",
    "annual leave policy",
    "{x} %s {{y}} $z forklift speed limit",
    "会社は誰が設立しましたか？",
    "社長は誰ですか",
    "LD-90のドイツでの保証期間は何年ですか？",
    "国内出張の日当はいくらですか",
    "育児休業の期間は？",
    "そのVPNのゲートウェイは何ですか",
    "その他の手当には食事補助がありますか",
    "退職するとき、その手続きは何ですか",
    "ＶＰＮのゲートウェイは何ですか",
    "  社員食堂は何時に開きますか ",
]
FOLLOW_UPS = sorted({question for dialogue in (REPORTED | MORE).values() for question, _ in dialogue})


@given(st.sampled_from(COMPLETE), st.lists(st.sampled_from([*COMPLETE, *FOLLOW_UPS]), max_size=6))
def test_a_complete_question_is_never_changed_whatever_went_before(question: str, before: list[str]) -> None:
    queries: list[str] = []
    for turn in before:
        queries.append(standalone(turn, queries))
    assert standalone(question, queries) == question


@given(st.text(max_size=60) | st.sampled_from(FOLLOW_UPS))
def test_without_a_turn_before_nothing_is_changed(question: str) -> None:
    assert standalone(question, []) == question


@given(st.text(max_size=60), st.lists(st.text(max_size=60), min_size=1, max_size=3))
def test_any_text_is_taken(question: str, before: list[str]) -> None:
    assert standalone(question, before) or not question


@given(st.lists(st.sampled_from(FOLLOW_UPS), min_size=1, max_size=30))
def test_queries_do_not_grow_with_the_conversation(turns: list[str]) -> None:
    queries: list[str] = []
    for turn in turns:
        queries.append(standalone(turn, queries))
    assert max(map(len, queries)) <= 3 * max(map(len, FOLLOW_UPS))


def test_words_reach_the_query_as_they_were_written() -> None:
    for first, then in itertools.product(COMPLETE, ["Why?", "Can they be changed?", "What is the deadline?"]):
        query = fold(standalone(then, [first]))
        lead = query.removesuffix(then).replace(":", " ").replace(",", " ").split()
        assert all(word in fold(first) for word in lead)


@pytest.mark.parametrize(
    "piece", ["and ", "the other ", "費", "国内の", "A-", "it ", "ではでは", "1", "Ab ", "期間", "X9-"]
)
def test_a_long_text_costs_no_time(piece: str) -> None:
    began = time.perf_counter()
    standalone(piece * (4000 // len(piece)) + "は？", ["How high can the FL-25 lift?"])
    standalone("その期間は？", [piece * (4000 // len(piece)) + "です"])
    assert time.perf_counter() - began < 0.5


# --- what may leave ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("earlier", "question", "restated", "leaves"),
    [
        ("What is Project Nightjar?", "When does it close?", "When does Project Nightjar close?", SAME),
        (
            "What is Project Nightjar?",
            "When does it close?",
            "When does the purchase of Hoshino Optics close?",
            "rules",
        ),
        ("計画ヨタカとは何ですか？", "それはいつ完了しますか？", "計画ヨタカはいつ完了しますか？", SAME),
        ("計画ヨタカとは何ですか？", "それはいつ完了しますか？", "星野光学の買収はいつ完了しますか？", "rules"),
        ("What is Project Nightjar?", "How much is that in yen?", "How much is 4.2 billion in yen?", "rules"),
    ],
)
def test_a_restated_query_leaves_only_in_the_words_of_the_user(
    earlier: str, question: str, restated: str, leaves: str
) -> None:
    history = [replace(everyday_run(), question=earlier, query=earlier)]
    outgoing = own_words(restated, question, history)
    assert outgoing == (restated if leaves == SAME else standalone(question, [earlier]))
    assert set(content_terms(outgoing)) <= set(content_terms(f"{earlier}\n{question}"))


def test_the_words_of_an_answer_do_not_leave_by_way_of_an_earlier_query_either() -> None:
    history = [
        replace(everyday_run(), question="What is Project Nightjar?", query="What is Project Nightjar?"),
        replace(everyday_run(), question="Who is bought?", query="Does Project Nightjar buy Hoshino Optics?"),
    ]
    by_rules = standalone("And when?", [turn.query for turn in history])
    assert "Hoshino" not in own_words(by_rules, "And when?", history)
