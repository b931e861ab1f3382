"""Han radicals that look like ideographs, and the ideographs that a reader types.

PDF producers map glyphs back to the radical blocks (U+2E80, U+2F00), so that a search for the ordinary character finds
nothing. NFKC folds the Kangxi block only, and to the traditional form where Japanese writes another.

Source: Unicode Character Database, property Equivalent_Unified_Ideograph; `PREFERRED` is the shape that a Japanese
font shows for the Kangxi radical of that name (JIS X 0208).
"""

from __future__ import annotations

_SUPPLEMENT = (
    "\u2e81\u2e82\u2e83\u2e84\u2e85\u2e86\u2e87\u2e88\u2e89\u2e8a\u2e8b\u2e8c\u2e8d\u2e8e"
    "\u2e8f\u2e90\u2e91\u2e92\u2e93\u2e94\u2e95\u2e96\u2e97\u2e98\u2e99\u2e9b\u2e9c\u2e9d"
    "\u2e9e\u2ea0\u2ea1\u2ea2\u2ea3\u2ea4\u2ea5\u2ea6\u2ea7\u2ea8\u2ea9\u2eaa\u2eab\u2eac"
    "\u2ead\u2eae\u2eaf\u2eb0\u2eb1\u2eb2\u2eb3\u2eb4\u2eb5\u2eb6\u2eb7\u2eb8\u2eb9\u2eba"
    "\u2ebb\u2ebc\u2ebd\u2ebe\u2ebf\u2ec0\u2ec1\u2ec2\u2ec3\u2ec4\u2ec5\u2ec6\u2ec7\u2ec8"
    "\u2ec9\u2eca\u2ecb\u2ecc\u2ecd\u2ece\u2ecf\u2ed0\u2ed1\u2ed2\u2ed3\u2ed4\u2ed5\u2ed6"
    "\u2ed7\u2ed8\u2ed9\u2eda\u2edb\u2edc\u2edd\u2ede\u2edf\u2ee0\u2ee1\u2ee2\u2ee3\u2ee4"
    "\u2ee5\u2ee6\u2ee7\u2ee8\u2ee9\u2eea\u2eeb\u2eec\u2eed\u2eee\u2eef\u2ef0\u2ef1\u2ef2"
)
_SUPPLEMENT_IDEOGRAPHS = (
    "厂乛乚乙亻冂𠘨刀刂卜㔾小小兀尣尢𡯂巳幺彑彐忄心扌攵旡日月歺民氵氺灬爫爫丬牛犭王𤴔目示礻𥫗糹纟罓罒㓁冗𦉫羊𦍌𦍋耂肀"
    "聿肉𦥑艹艹艹虎衤覀西见角𧢲讠贝𧾷车辶辶辶邑钅長镸长门𨸏阝雨青韦页风飞食𩙿飠饣𩠐马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀"
)
PREFERRED = {"\u2f3e": "戸", "\u2fad": "青", "\u2fc6": "麦", "\u2fc8": "黄", "\u2fca": "黒", "\u2fd2": "歯"}

RADICALS: dict[str, str] = {
    **dict(zip(_SUPPLEMENT, _SUPPLEMENT_IDEOGRAPHS, strict=True)),
    **PREFERRED,
}
"""Radical to ideograph, one character each; what is absent, NFKC folds by itself."""
