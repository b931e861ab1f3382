"""Units and counters as they are written after a number, and what each stands for."""

from __future__ import annotations

import re
from decimal import Decimal

from tadasu.text.wordlists import word_set

_SPELLINGS: dict[str, str] = {
    "%": "% percent パーセント per\u00a0cent プロ",
    "円": "円 yen JPY 圓",
    "USD": "ドル dollars dollar USD 米ドル",
    "EUR": "ユーロ euros euro EUR",
    "GBP": "ポンド GBP",
    "割": "割",
    "人": "人 名 people persons person",
    "年": "年 年度 年間 years year yrs yr",
    "月": "月",
    "か月": "か月 ヶ月 カ月 ケ月 ヵ月 箇月 か月間 ヶ月間 months month",
    "週間": "週間 weeks week",
    "日": "日 日間 days day",
    "時": "時",
    "h": "時間 hours hour hrs hr h",
    "min": "分 分間 minutes minute min mins",
    "s": "秒 秒間 seconds second sec secs s",
    "ms": "ms ミリ秒 milliseconds millisecond",
    "回": "回 times 度目 回目",
    "倍": "倍 fold",
    "歳": "歳 才 years\u00a0old year\u00a0old years-old year-old yo",
    "世紀": "世紀 century centuries",
    "m": "m メートル meters meter metres metre",
    "km": "km キロメートル kilometers kilometer kilometres kilometre",
    "cm": "cm センチメートル センチ centimeters centimeter centimetres centimetre",
    "mm": "mm ミリメートル ミリ millimeters millimeter millimetres millimetre",
    "um": "μm マイクロメートル micrometers micrometres",
    "nm": "nm ナノメートル nanometers nanometres",
    "in": "inches inch インチ",
    "ft": "ft feet foot フィート",
    "mi": "miles mile マイル",
    "g": "g グラム grams gram",
    "kg": "kg キログラム kilograms kilogram キロ",
    "mg": "mg ミリグラム milligrams milligram",
    "t": "t トン tons ton tonnes tonne",
    "lb": "lb lbs pounds pound",
    "L": "L l リットル liters liter litres litre",
    "mL": "mL ml ミリリットル milliliters millilitres",
    "Pa": "Pa パスカル pascals pascal",
    "hPa": "hPa ヘクトパスカル",
    "kPa": "kPa キロパスカル kilopascals",
    "MPa": "MPa メガパスカル megapascals",
    "GPa": "GPa",
    "bar": "bar bars バール",
    "psi": "psi",
    "V": "V ボルト volts volt VDC VAC",
    "kV": "kV キロボルト",
    "mV": "mV ミリボルト",
    "A": "A アンペア amperes ampere amps amp",
    "mA": "mA ミリアンペア milliamps milliamperes",
    "W": "W ワット watts watt",
    "kW": "kW キロワット kilowatts kilowatt",
    "MW": "MW メガワット megawatts megawatt",
    "kWh": "kWh キロワット時",
    "Hz": "Hz ヘルツ hertz",
    "kHz": "kHz キロヘルツ",
    "MHz": "MHz メガヘルツ",
    "GHz": "GHz ギガヘルツ",
    "°C": "°C 度C ℃ degC",
    "°F": "°F degF",
    "度": "度 ° degrees degree",
    "Ω": "Ω オーム ohms ohm",
    "kΩ": "kΩ",
    "N": "N ニュートン newtons newton",
    "J": "J ジュール joules joule",
    "kJ": "kJ",
    "K": "ケルビン kelvin",
    "dB": "dB デシベル decibels",
    "B": "bytes byte バイト",
    "KB": "KB kB キロバイト kilobytes",
    "MB": "MB メガバイト megabytes",
    "GB": "GB ギガバイト gigabytes",
    "TB": "TB テラバイト terabytes",
    "bps": "bps",
    "Mbps": "Mbps",
    "Gbps": "Gbps",
    "rpm": "rpm",
    "ppm": "ppm",
    "m2": "m2 平方メートル m^2",
    "m3": "m3 立方メートル m^3",
    "km2": "km2 平方キロメートル 平方キロ km^2",
    "ha": "ha ヘクタール hectares hectare",
    "km/h": "km/h",
    "m/s": "m/s",
    "L/min": "L/min",
    "m3/h": "m3/h",
    "kg/m3": "kg/m3",
    "個": "個 つ ヶ コ",
    "台": "台",
    "本": "本",
    "枚": "枚",
    "件": "件",
    "点": "点 points point",
    "社": "社",
    "冊": "冊",
    "匹": "匹 頭 羽",
    "階": "階",
    "号": "号",
    "番": "番 番目",
    "位": "位",
    "章": "章",
    "条": "条",
    "種": "種 種類",
    "か所": "か所 ヶ所 カ所 箇所",
    "か国": "か国 ヶ国 カ国 箇国",
    "世帯": "世帯",
    "代": "代",
    "期": "期",
    "校": "校",
    "曲": "曲",
    "戦": "戦",
    "試合": "試合",
    "次": "次",
    "回戦": "回戦",
    "丁目": "丁目",
}

CANONICAL: dict[str, str] = {
    spelling.replace("\u00a0", " "): unit for unit, spellings in _SPELLINGS.items() for spelling in spellings.split(" ")
}
"""What is written, folded, to the unit it stands for."""

LOOSE = word_set("度 個 台 本 枚 件 点 社 冊 匹 号 番 位 章 条 種 か所 代 期 校 曲 次 回 人 か国 世帯 階")
"""Counters that another language leaves out or names by a noun: they never make two quantities differ."""

PREFIXED = {
    "$": "USD",
    "US$": "USD",
    "USD": "USD",
    "¥": "円",
    "JPY": "円",
    "€": "EUR",
    "EUR": "EUR",
    "£": "GBP",
    "GBP": "GBP",
}
"""Currency signs and codes before a number."""

_SCALES: dict[str, tuple[str, str]] = {
    "km": ("m", "1000"), "cm": ("m", "0.01"), "mm": ("m", "0.001"), "um": ("m", "0.000001"), "nm": ("m", "0.000000001"),
    "kg": ("g", "1000"), "mg": ("g", "0.001"), "t": ("g", "1000000"), "mL": ("L", "0.001"),
    "hPa": ("Pa", "100"), "kPa": ("Pa", "1000"), "MPa": ("Pa", "1000000"), "GPa": ("Pa", "1000000000"),
    "bar": ("Pa", "100000"), "kV": ("V", "1000"), "mV": ("V", "0.001"), "mA": ("A", "0.001"), "kW": ("W", "1000"),
    "MW": ("W", "1000000"), "kHz": ("Hz", "1000"), "MHz": ("Hz", "1000000"), "GHz": ("Hz", "1000000000"),
    "kΩ": ("Ω", "1000"), "kJ": ("J", "1000"), "ms": ("s", "0.001"), "min": ("s", "60"), "h": ("s", "3600"),
    "割": ("%", "10"), "Gbps": ("bps", "1000000000"), "Mbps": ("bps", "1000000"),
}  # fmt: skip
SCALES: dict[str, tuple[str, Decimal]] = {unit: (base, Decimal(factor)) for unit, (base, factor) in _SCALES.items()}
"""Unit to its base unit and factor."""


def _alternatives(spellings: list[str]) -> str:
    return "|".join(re.escape(s) for s in sorted(spellings, key=len, reverse=True))


_LATIN = [s for s in CANONICAL if s[-1].isascii() and s[-1].isalnum()]
_OTHER = [s for s in CANONICAL if s not in _LATIN]
UNIT = re.compile(rf"[ -]?(?P<latin>{_alternatives(_LATIN)})(?![A-Za-z0-9])| ?(?P<other>{_alternatives(_OTHER)})")
"""A unit right after a number, with the space before it."""
