"""Names: their characters, names that look alike, and suggestions for a misspelt one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

LOOKALIKES = {
    "A": "ΑАᎪᗅꓮ𐊠𖽀",
    "B": "ΒВᏴᗷꓐꞴ𐊂𐊡𐌁",
    "C": "СᏟⲤꓚ𐊢𐌂𐐕𐔜𑣩𑣲🝌",
    "D": "Ꭰᗞᗪꓓ",
    "E": "ΕЕᎬ⋿ⴹꓰ𐊆𑢦𑢮",
    "F": "ϜᖴꓝꞘ𐊇𐊥𐔥𑢢𑣂𝈓",
    "G": "ԌᏀᏳꓖ",
    "H": "ΗНᎻᕼⲎꓧ𐋏",
    "J": "ͿЈᎫᒍꓙꞲ",
    "K": "ΚКᏦᛕⲔꓗ𐔘",
    "L": "ᏞᒪⳐꓡ𐐛𐔦𑢣𑢲𖼖𝈪",
    "M": "ΜϺМᎷᗰᛖⲘꓟ𐊰𐌑",
    "N": "ΝⲚꓠ𐔓",
    "O": "ΟОՕ০ଠ୦ዐⲞⵔ〇ꓳ𐊒𐊫𐐄𐓂𐔖𑓐𑢵𑣠",
    "P": "ΡРᏢᑭⲢꓑ𐊕",
    "Q": "ⵕ",
    "R": "ƦᎡᏒᖇꓣ𐒴𖼵𝈖",
    "S": "ЅՏᏕᏚꓢ𐊖𐐠𖼺",
    "T": "ΤТᎢ⊤⟙Ⲧꓔ𐊗𐊱𐌕𑢼𖼊🝨",
    "U": "Սሀᑌ∪⋃ꓴ𐓎𑢸𖽂",
    "V": "Ѵ۷Ꮩᐯⴸꓦꛟ𐔝𑢠𖼈𝈍",
    "W": "ԜᎳᏔꓪ𑣦𑣯",
    "X": "ΧХ᙭ᚷ╳ⲬⵝꓫꞳ𐊐𐊴𐌗𐌢𐔧𑣬",
    "Y": "ΥУҮᎩᎽⲨꓬ𐊲𑢤𖽃",
    "Z": "ΖᏃꓜ𐋵𑢩𑣥",
    "a": "ɑαа⍺",
    "b": "ƄЬᏏᑲᖯ",
    "c": "сᴄⲥꮯ𐐽",
    "d": "ԁᏧᑯꓒ",
    "e": "еҽ℮ꬲ",
    "f": "քẝꞙꬵ",
    "g": "ƍɡցᶃ",
    "h": "һհᏂ",
    "i": "ıɩɪιіӏᎥ⍳ꙇꭵ𑣃",
    "j": "ϳј",
    "l": "ƖǀΙІӀ۱ᛁ∣⏽Ⲓⵏꓲ𐊊𐌉𐌠𖼨",
    "n": "ոռ",
    "o": "οσоօ۵०੦૦௦ం౦ಂ೦ംഠ൦ං๐໐ဝ၀ჿᴏᴑⲟꬽ𐐬𐓪𑣈𑣗",
    "p": "ρр⍴ⲣ",
    "q": "ԛգզ",
    "r": "гᴦⲅꭇꭈꮁ",
    "s": "ƽѕꜱꮪ𐑈𑣁",
    "u": "ʋυսᴜꞟꭎꭒ𐓶𑣘",
    "v": "νѵᴠ∨⋁ꮩ𑜆𑣀",
    "w": "ɯѡԝաᴡꮃ𑜊𑜎𑜏",
    "x": "×хᕁᕽ᙮⤫⤬⨯",
    "y": "ɣʏγуүყᶌỿꭚ𑣜",
    "z": "ᴢꮓ𑣄",
    "2": "ƧϨᒿꙄꛯꝚ",
    "3": "ƷȜЗӠⳌꝪꞫ𑣊𖼻𝈆",
    "4": "Ꮞ𑢯",
    "5": "Ƽ𑢻",
    "6": "бᏮⳒ𑣕",
    "7": "𐓒𑣆𝈒",
    "8": "Ȣȣ৪੪ଃ𐌚",
    "9": "৭੧୨൭ⳊꝮ𑢬𑣌𑣖",
    "-": "˗‐‒–⁃−➖Ⲻ",
    ".": "۰ꓸ꘎𝅭",
    "'": "ʹʻʼʽʾˈˊˋ˴՚՝ᑊᛌ‘’‛′‵ꞌ𖽑𖽒",
}


def nearest(name: str, known_names: Iterable[str]) -> str | None:
    """The known name that is closest to ``name``; None if none is close."""
    matches = get_close_matches(name.lower(), sorted(known_names), n=1, cutoff=0.5)
    return matches[0] if matches else None


def did_you_mean(name: str, known_names: Iterable[str]) -> str:
    """The end of an error text: a suggestion of the known name closest to ``name``, if one is close."""
    near = nearest(name, known_names)
    return f"; did you mean {near}?" if near else ""


def no_queue(name: str, known_names: Iterable[str]) -> str:
    """The error text for a queue that does not exist, with a suggestion from the known names."""
    return f"there is no queue {name!r}{did_you_mean(name, known_names)}"


_LATIN_LOOKALIKES = {ord(other): letter for letter, others in LOOKALIKES.items() for other in others}
_SAME_IN_ASCII = str.maketrans("I1|0", "lllO")
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"  # many scripts and emoji need them between two characters
_BLANKS = frozenset(  # letters, marks and symbols in Unicode that fonts show as blank
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U00016fe4\U0001d159"
)
_SELECTORS = range(0xFE00, 0xFE10)
_IDEOGRAPHIC_SELECTORS = range(0xE0100, 0xE01F0)


def normalize(name: str) -> str:
    """The name in the form that is stored: NFC, so that é is one character however it was typed."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def find_invisible(text: str) -> str | None:
    """The first invisible character, such as ``U+200B``; None if there is none."""
    if text.isascii() and text.isprintable():
        return None
    for at, char in enumerate(text):
        if _is_invisible(text, at):
            return f"U+{ord(char):04X}"
    return None


def _is_invisible(text: str, at: int) -> bool:
    char, before = text[at], text[at - 1 : at]  # '' at the beginning, which counts as ASCII
    if ord(char) in _SELECTORS:  # of emoji and other symbols
        return before.isascii() or unicodedata.category(before)[0] != "S"
    if ord(char) in _IDEOGRAPHIC_SELECTORS:  # of Han characters: Japanese names have them
        return not before or not unicodedata.name(before, "").startswith("CJK ")
    if char in _JOINERS:
        neighbours = before, text[at + 1 : at + 2]
        return any(neighbour.isascii() or neighbour in _JOINERS for neighbour in neighbours)
    return char in _BLANKS or unicodedata.category(char) in _HIDDEN_CATEGORIES


def find_lookalike(name: str, others: Iterable[str]) -> str | None:
    """The first of ``others`` that looks like ``name``: in another case, or with lookalike characters.

    An equal name is skipped.
    """
    skeletons = _skeletons(name)
    return next(
        (other for other in others if other != name and not skeletons.isdisjoint(_skeletons(other))), None
    )


def _skeletons(name: str) -> set[str]:
    """The skeletons of a name. Names that look alike share one: in any case, with I like l and 0 like O."""
    if name.isascii():
        text = latin = " ".join(name.split())
    else:
        visible_text = "".join(char for at, char in enumerate(name) if not _is_ignorable(name, at))
        text = " ".join(unicodedata.normalize("NFKC", visible_text).split())
        latin = text.translate(_LATIN_LOOKALIKES)
    return {text.casefold(), latin.casefold(), "=" + latin.translate(_SAME_IN_ASCII)}


def _is_ignorable(name: str, at: int) -> bool:
    """Whether a character is a variation selector, or invisible."""
    code = ord(name[at])
    return code in _SELECTORS or code in _IDEOGRAPHIC_SELECTORS or _is_invisible(name, at)
