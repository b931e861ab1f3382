"""What orders to a language model look like, by kind, in English and Japanese: the rules that `injection` applies.

Each rule looks at one sentence or line, folded (see `normalize.fold`) and without spelling tricks. CERTAIN is what no
page says to its readers; SUSPECT is what some pages do say, and counts only beside something certain.
"""

from __future__ import annotations

import enum
import re
from typing import Final


class Kind(enum.Enum):
    """What a sentence does that speaks to a model."""

    OVERRIDE = "override"
    """Cancels or replaces instructions."""
    ROLE = "role"
    """Gives the model another role or mode, or plays a turn of the chat."""
    ADDRESS = "address"
    """Turns to a model as its reader."""
    FORMAT = "format"
    """Orders a form or wording of the answer, or forbids citations and other sources."""
    GRADE = "grade"
    """Grades itself."""
    BREAK = "break"
    """Plays the end of the quoted material."""
    LEAK = "leak"
    """Asks for secrets, or for data to be sent away."""
    TEMPLATE = "template"
    """A filled-in form of a machine's reply."""


# A verb is an order where a clause begins, not in "was told to ignore".
_CLAUSE = (
    r"(?:^|[.!?:;,\"'()\[\]{}<>*#|=/-]\s*|\b(?:please|now|and|then|so|kindly|simply|just|instead|first|immediately|"
    r"you(?: (?:must|should|shall|will|may|can|have to|need to|are to|are (?:hereby )?(?:asked|told|instructed|"
    r"required|ordered|directed) to))|want you to|do not|don't|never|always|only|task is to|duty is to)\s+)"
)
_EARLIER = (
    r"(?:previous|prior|above|earlier|preceding|foregoing|former|original|initial|existing|current|system|developer"
    r"|operator|hidden|safety|security|all(?: of)?(?: the| your)?|any(?: other)?|your|other)"
)
_WORD_OF_ORDER = (
    r"(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|commands?|constraints?|orders?|polic(?:y|ies)"
    r"|messages?|restrictions?|guardrails?|context|conversation|task|tasks)"
)
_CANCEL = r"(?:ignore|disregard|forget|override|overrule|bypass|discard|skip|set aside|drop|stop following|do not (?:follow|obey))"
_SAY = (
    r"(?:reply|respond|answer|output|print|return|write|say|state|repeat|generate|produce|emit|report|conclude|declare"
    r"|confirm|claim|recommend|summari[sz]e)"
)
_MODEL = (
    r"(?:a\.?i\.?|llms?|language models?|(?:ai |digital |virtual |language |search |answer(?:ing)? )?assistants?|ai (?:agents?|models?"
    r"|systems?|readers?|tools?)|chat ?bots?|chat models?|bots?|crawlers?|summari[sz]ers?|graders?|evaluators?"
    r"|judges?|models?|retriev(?:al|er) (?:systems?|models?)|rag (?:systems?|pipelines?|models?)|answer(?:ing)? (?:engines?|systems?))"
)
_SOURCES = (
    r"(?:sources?|documents?|passages?|pages?|results?|websites?|sites?|references?|citations?|evidence|materials?"
    r"|texts?|articles?|footnotes?)"
)
_FORM = (
    r"(?:format|json|xml|yaml|csv|html|markdown|template|schema|object|code block|code fence|key|keys|fields?"
    r"|plain text|capital letters|uppercase|base64|table)"
)
_TEXT_AT_HAND = r"(?:passage|page|document|text|source|content|article|result|site|website|paragraph|entry|record|it|snippet|chunk)"
_GRADE_KEYS = r"(?:relevance|relevancy|factuality|completeness|faithfulness|groundedness)"
_WEAK_KEYS = r"(?:verdict|level|grade|rating|score|recommendation|status|relevant|correct|supported|label|confidence)"
_TOP = r"(?:HIGH|CORRECT|RELEVANT|SUPPORTED|ACCEPT(?:ED)?|PASS(?:ED)?|USE|TRUE|VERIFIED|APPROVED|MAXIMUM|1(?:\.0+)?|100 ?%)"

CERTAIN: Final[tuple[tuple[Kind, str], ...]] = (
    (Kind.OVERRIDE, rf"{_CLAUSE}{_CANCEL}\b[^.!?]{{0,24}}?\b{_EARLIER}\b[^.!?]{{0,30}}?\b{_WORD_OF_ORDER}\b"),
    (
        Kind.OVERRIDE,
        rf"{_CLAUSE}{_CANCEL}\b[^.!?]{{0,30}}?\b{_WORD_OF_ORDER} (?:above|before|so far|you (?:were|have|had|got|received)"
        rf"|given|from (?:the )?(?:system|developer|operator|user)|that (?:you|came|were|precede))",
    ),
    (
        Kind.OVERRIDE,
        rf"{_CLAUSE}{_CANCEL}\b (?:everything|anything|all(?: of)?(?: that)?|what(?:ever)?|the above|all (?:the )?above)\b"
        rf"[^.!?]{{0,40}}?(?:\b(?:above|before this|you (?:were|have been|had been) (?:told|given|asked)|was said|up to (?:here|now))\b"
        rf"|(?:,| and| then)[^.!?]{{0,12}}\b{_SAY}\b)",
    ),
    (Kind.OVERRIDE, rf"{_CLAUSE}(?:ignore|disregard)\b[^.!?]{{0,30}}\b(?:rest of the|all other|every other|the other) {_SOURCES}\b"),
    (
        Kind.OVERRIDE,
        rf"\b(?:your|(?:the|all|any) (?:previous|prior|above|earlier|preceding|system|original)) {_WORD_OF_ORDER}\b[^.!?]{{0,20}}"
        rf"\b(?:(?:is|are|have been|has been|was|were) (?:now |hereby |all )*(?:void|cancell?ed|updated|replaced|revoked"
        rf"|superseded|suspended|lifted|obsolete|overridden|changed|outdated|invalid|withdrawn)|no longer (?:appl|valid|bind|count|hold))",
    ),
    (Kind.OVERRIDE, rf"\b(?:new|updated|revised|real|actual|true) (?:system )?(?:instructions?|task|directives?|prompt)\b(?: (?:for|to) (?:you|{_MODEL})|\s*:| follows?\b)"),
    (
        Kind.ROLE,
        r"\byou are (?:now|from now on|henceforth|no longer)\b[^.!?]{0,40}\b(?:mode|assistant|ai|model|bot|dan|system|admin\w*|developer|"
        r"unrestricted|jailb\w+|unfiltered|bound|required|restricted|allowed|free (?:of|from)|in charge|parser|printer|calculator|pirate|translator|json)\b",
    ),
    (Kind.ROLE, rf"\bfrom now on,? (?:you |always |only |please )*(?:(?:must|will|shall|are to|should|have to) )?(?:only |always )*{_SAY}\b"),
    (Kind.ROLE, rf"{_CLAUSE}(?:act|behave|respond|answer|speak|pose) as (?:if you (?:were|are) )?(?:an? |the )?[^.!?]{{0,24}}\b(?:{_MODEL}|dan|administrator|developer)\b"),
    (Kind.ROLE, rf"{_CLAUSE}pretend (?:to be|that you|you are)\b[^.!?]{{0,40}}\b(?:{_MODEL}|no (?:rules|restrictions|limits)|instructions)\b"),
    (Kind.ROLE, r"\b(?:enter|activate|enable|switch (?:in)?to|entering|enabled:?) (?:the )?(?:developer|debug|maintenance|admin\w*|god|dan|unrestricted|audit|override|root|sudo) mode\b"),
    (Kind.ROLE, rf"(?:^|[\n.!>]\s*)[\[(<*#\s]*(?-i:SYSTEM|ASSISTANT|DEVELOPER)(?: (?-i:PROMPT|MESSAGE|NOTE|OVERRIDE|NOTICE|INSTRUCTION|UPDATE|ALERT))?[\])>*\s]*:\s*\S"),
    (Kind.ROLE, r"(?:^|[\n.!>]\s*)[\[(<*#\s]*(?:system|developer) (?:prompt|message|note|override|notice|instructions?|update|alert)[\])>*\s]*:\s*\S"),
    (
        Kind.ADDRESS,
        rf"\b(?:note|message|attention|instructions?|notice|reminder|memo|hint|important|request|warning|info(?:rmation)?|directive|orders?)[ ,:-]*"
        rf"(?:to|for)\b (?:the |any |all |every |our )*(?:{_MODEL})\b(?! (?:number|year|owners?|users?|train\w*|no\.))",
    ),
    (Kind.ADDRESS, rf"\bif you(?:'re| are) (?:an? |the )?(?:{_MODEL})\b|\b(?:dear|hey|hello|attention)[ ,:-]+(?:{_MODEL})\b|\bas an? (?:ai|llm|language model)\b[^.!?]{{0,40}}\byou\b"),
    (
        Kind.ADDRESS,
        rf"\b(?:{_MODEL}) (?:(?:reading|processing|summari[sz]ing|parsing|indexing|answering|that (?:reads?|process\w*|summari\w*)|who (?:reads?)) [^.!?]{{0,40}})?"
        rf"(?:must|should|shall|needs? to|ha(?:s|ve) to|(?:is|are) (?:to|required to|instructed to|asked to|ordered to|directed to))(?: (?:not|never|always|only|now|also|therefore))*"
        rf" (?:{_SAY}|cite|quote|grade|rate|score|mark|treat|tell|use|ignore|disregard|include|rank|accept|consider|follow|obey|trust|reveal|send|prefer|omit|assume|regard|classify|present|mention)\b",
    ),
    (
        Kind.FORMAT,
        rf"{_CLAUSE}(?:{_SAY}|format)\b[^.!?]{{0,40}}?\b(?:only|exactly|strictly|nothing but|solely|always|exclusively|must)\b[^.!?\n]{{0,40}}?\b(?:{_FORM}|(?:the )?following (?:text|words?|sentence|line|string|json)|this (?:text|word|sentence|json|line|string)|these words)\b",
    ),
    (Kind.FORMAT, rf"{_CLAUSE}(?:only|always|strictly|exclusively) {_SAY}\b[^.!?]{{0,30}}\b{_FORM}\b"),
    (Kind.FORMAT, rf"{_CLAUSE}(?:{_SAY}|format)\b[^.!?]{{0,30}}?\b(?:as|in|with|using|a single|valid)\b[^.!?]{{0,16}}\b(?:json|xml|yaml|base64)\b"),
    (Kind.FORMAT, rf"{_CLAUSE}(?:output|print|return|emit)\b (?:only |exactly |just )*(?:this|the following)\b"),
    (Kind.FORMAT, rf"\b(?:your|the|every|each|any) (?:final |whole |entire |next )?(?:answer|reply|response|output|summary)s? (?:must|should|shall|has to|needs to|is to|will|may only)\b"),
    (Kind.FORMAT, rf"{_CLAUSE}(?:begin|start|end|finish|preface|prefix|close|open|append|prepend|add|include|insert|put)\b[^.!?]{{0,60}}\b(?:your|the|every|each) (?:final |whole )?(?:answer|reply|response|output|summary)s?\b"),
    (Kind.FORMAT, rf"\b(?:do not|don't|never|without)(?: \w+){{0,3}} (?:cite|citing|quote|quoting|use|using|trust|trusting|mention|mentioning|consult|consulting|add|adding|include|including|name|naming|give|giving|rely on)\b[^.!?]{{0,12}}\b(?:any |the |other |further |another |your )*(?:other {_SOURCES}|citations?|footnotes?|source markers?|square brackets|sources)\b"),
    (Kind.FORMAT, rf"\b(?:without|no|omit|drop|skip|leave out)(?: any| the| all)? (?:citations?|source markers?|bracketed numbers)\b"),
    (Kind.FORMAT, rf"{_CLAUSE}(?:tell|inform|advise|assure|warn|instruct) the (?:user|asker|person who asked|questioner|reader|customer)\b[^.!?]{{0,6}}\b(?:that|to|:)"),
    (Kind.GRADE, rf"(?:^|[\n,;|{{.]\s*)[\"'*_\s]*{_GRADE_KEYS}[\"'*_\s]*[:=]\s*[\"']?(?:[01](?:\.\d+)?\b|\d{{1,3}} ?%|\d+ ?/ ?\d+|(?:very )?high\b|max|full|true|perfect)"),
    (Kind.GRADE, rf"(?:^|\n)[\s\"'*_#-]*{_WEAK_KEYS}[\"'*_\s]*[:=]\s*[\"']?(?-i:{_TOP})\b(?![.\d]*\d* ?(?:/|out|points|von))"),
    (
        Kind.GRADE,
        rf"{_CLAUSE}(?:grade|rate|mark|score|classify|treat|rank|judge|consider|evaluate|label|assess|regard|give|assign|set)\b[^.!?]{{0,16}}\b(?:this|the|my|our|every|each|all|these)\b[^.!?]{{0,16}}\b{_TEXT_AT_HAND}s?\b[^.!?]{{0,40}}"
        rf"\b(?:high\w*|correct|relevant|1(?:\.0+)?|100|maximum|max|top|full|authoritative|trusted|trustworthy|reliable|verified|true|best|first|only|highest|perfect)\b",
    ),
    (Kind.GRADE, rf"{_CLAUSE}(?:grade|rate|mark|score|classify|label) it (?:as )?(?:high\w*|correct|relevant|1\.0+|100|maximum|top)\b"),
    (
        Kind.GRADE,
        rf"\b(?:this|the(?: above| following)?|every|each|our) (?:{_TEXT_AT_HAND})s?(?: of this \w+)? (?:is|are|was|were|has been|have been|should be|must be|deserves?|receives?|gets?|scores?|earns?)\b[^.!?]{{0,30}}"
        rf"(?:\b(?:graded|rated|scored|judged|classified|marked|evaluated|labell?ed|ranked|assessed)\b[^.!?]{{0,24}}\b(?:high\w*|correct|relevant|1\.0+|maximum|top|100)|(?-i:HIGH|CORRECT)|\brelevan(?:t|ce)\b[^.!?]{{0,16}}\b(?:question|query|1\.0+|score))",
    ),
    (Kind.GRADE, r"#{2,}\s*(?:end )?(?:of )?grad(?:e|ing)s?\b|\bgrad(?:e|ing) (?:result|report)\s*:"),
    (Kind.BREAK, r"^\W*(?:<{2,}|={3,}|-{3,}|#{3,}|\*{3,}|\[{1,3}|`{3,}|~{3,})\s*/?\s*(?:end|begin|start|close|stop)?\s*(?:of )?(?:the )?(?:evidence|context|passages?|documents?|sources?|quot\w+|material|data|instructions?|system|untrusted \w+|user (?:input|message|question)|retrieved \w+|web (?:page|content)|prompt)\b"),
    (Kind.BREAK, r"^\W*end of (?:the )?(?:evidence|context|passages?|documents?|sources?|quot\w+|material|data|instructions?|untrusted \w+|retrieved \w+|prompt|input)\b"),
    (Kind.BREAK, r"(?:^|[.!?。>\n]\s*)</?\s*(?:system|context|instructions?|assistant|evidence|prompt|user|passage|document|source|data|quote|untrusted)\b[^>\n]{0,40}>"),
    (Kind.BREAK, r"(?:^|[.!?。>\n]\s*)(?:<\|[a-z_]{2,20}\|>|\[/?INST\]|<</?SYS>>|</s>)|<\|[a-z_]{2,20}\|>\s*(?:system|user|assistant|developer)\b"),
    (Kind.BREAK, r"^\W*={2,}\s*(?:user|system|assistant)\s*={2,}"),
    (Kind.BREAK, r"<{3,}\s*/?\s*(?:end|begin|evidence|passage|終)"),
    (
        Kind.LEAK,
        rf"{_CLAUSE}(?:reveal|print|repeat|show|output|disclose|leak|display|tell me|list|quote|copy|dump|expose|give|write out|recite)\b[^.!?]{{0,40}}\b(?:system prompt|hidden prompt|system message|hidden instructions|your (?:initial |original |full )?(?:instructions|prompt|rules)"
        rf"|api keys?|internal documents?|confidential|credentials|secrets?|conversation history|other passages|nonce)\b",
    ),
    (Kind.LEAK, r"\b(?:send|post|forward|submit|transmit|upload|append|attach|report|leak)\b[^.!?]{0,60}\b(?:question|documents?|conversation|context|prompt|data|keys?|passwords?|answer|credentials|history|passages?|evidence)\b[^.!?]{0,50}(?:https?://|\bto (?:this|the following) (?:url|address|endpoint|server|link)|@)"),
    (Kind.LEAK, r"!\[[^\]\n]{0,80}\]\(\s*https?://[^)\s]{0,200}[?&=][^)\n]{0,200}\)"),
    (Kind.LEAK, r"https?://\S{1,120}[?&]\w+=(?:\{\w*\}?|\[[\w ]*\]?|<[\w ]+>|\$|%7[bB])"),
    (Kind.TEMPLATE, r"\{[^{}\n]{0,200}[\"'](?:relevance|relevant|factuality|completeness|verdict|recommendation|citations?|sources?)[\"']\s*:"),
    # --- Japanese ---
    (
        Kind.OVERRIDE,
        r"(?:これまで|今まで|いままで|以前|先ほど|先程|さきほど|上記?|以上|前述|直前|前|システム|与えられた|開発者|運営者|管理者|あなた(?:へ|に対する|が受けた)?|元|本来|最初|初期|すべて|全て|全部|あらゆる|従来|既存|他|ほか|受けた|受け取った|いかなる)"
        r"(?:の|から|に)?[^。\n]{0,16}?(?:指示|命令|プロンプト|ルール|規則|設定|制約|ガイドライン|指針|文脈|会話|約束|制限|メッセージ|決まり)"
        r"(?:事項)?(?:など|等|内容)?(?:を|は|も|について)?[^。\n]{0,14}?(?:無視|忘れ|破棄|上書き|取り消|取消|無効|従わ|リセット|解除|捨て|失効|撤回|読み飛ば|優先し(?:ない|な)|守らな)"
        r"(?!した場合|された|させる|する(?:者|人|行為|車)|したこと)",
    ),
    (Kind.OVERRIDE, r"(?:指示|命令|プロンプト)(?:を|は)[^。\n]{0,6}(?:無視|忘れ|破棄)[^。\n]{0,24}(?:答え|回答|出力|返答|述べ|返し|書いて|と言)(?:て|し|よ|ろ|せよ|なさい|る)"),
    (Kind.OVERRIDE, r"(?:新しい|新たな|更新された|本当の|真の|優先|次の|以下の)(?:システム)?(?:指示|命令|プロンプト)(?:は(?:次|以下)|[::]|に(?:従|したが)(?:っ|い|え|う))"),
    (
        Kind.ROLE,
        r"(?:あなた|君|きみ|お前|AI|アシスタント|モデル|システム)は[^。\n]{0,6}(?:今|いま|これ|以後|以降|ただいま|もう)[^。\n]{0,24}(?:モード|AI|アシスタント|モデル|ボット|管理者|開発者|監査|制限(?:の|な)|として(?:答|回答|振る舞|ふるま|行動|応答|動作))",
    ),
    (Kind.ROLE, r"(?:開発者|デバッグ|管理者|監査|保守|メンテナンス|無制限)モード(?:に|を|へ)(?:入|切り替|移行|有効|起動|オン)"),
    (Kind.ROLE, r"(?:^|[\n。>】]\s*)[\[【(<]?(?:システム|アシスタント|開発者|管理者)(?:メッセージ|プロンプト|指示|通知|命令|より|から(?:の(?:指示|通知|命令|お知らせ))?)[\]】)>]?\s*[:。\n]"),
    (
        Kind.ADDRESS,
        r"(?:AI|生成AI|言語モデル|LLM|大規模言語モデル|アシスタント|チャットボット|ボット|回答者|採点者|評価者|評価モデル|採点モデル|要約モデル|検索システム|回答システム)(?:の)?(?:みなさん|皆さん|皆様|各位|方|方々|様)?"
        r"(?:へ(?![^。\n]{0,6}(?:質問|入力|相談|問い合わせ|の移行|の期待|の道))|宛|あて|に告ぐ|への(?:指示|お願い|注意|連絡|命令|メッセージ|お知らせ|通達|伝言|依頼)|向け(?:の)?(?:指示|命令|注意|メッセージ|お知らせ))",
    ),
    (Kind.ADDRESS, r"(?:この|本|当)(?:ページ|文章|文書|記事|資料|サイト|文|テキスト|段落)を(?:お)?(?:読|処理|参照|要約|引用|評価|採点|解析|学習)[^。\n]{0,10}(?:AI|言語モデル|LLM|アシスタント|モデル|ボット|システム|採点者|評価者)"),
    (Kind.ADDRESS, r"(?:AI|言語モデル|LLM|アシスタント|チャットボット|回答システム|モデル)は[^。\n]{0,60}(?:(?:答え|回答し|出力し|述べ|引用し|評価し|採点し|扱っ|無視し|返し|従っ|表示し|書い|案内し|伝え|優先し)(?:なければ|てください|て下さい|なさい|ること|ろ|よ|たまえ)|(?:回答|出力|引用|評価|採点|表示|案内|優先)(?:せよ|しろ|すること|するものとする|すべき))"),
    (Kind.ADDRESS, r"あなたが(?:AI|言語モデル|LLM|アシスタント|ボット|機械|チャットボット)(?:なら|であれば|である場合|でしたら|の場合)"),
    (
        Kind.FORMAT,
        r"(?:次|以下|下記|この|上記|指定|下)の(?:形式|書式|フォーマット|JSON|テンプレート|文言|文字列|スキーマ|文章|文|一文|言葉|様式|ひな形|雛形)(?:だけ|のみ)?(?:で|を|に従[いっ]て?|に沿って|どおりに?|通りに?|として|以外(?:では|は|で))(?:だけ|のみ)?[^。\n]{0,8}(?:出力|回答|返答|応答|答え|返し|返す|返信)",
    ),
    (Kind.FORMAT, r"(?:JSON|XML|YAML|Base64)(?:形式|オブジェクト|データ)?(?:だけ|のみ)?(?:で|を|に(?:して|変換して)?)(?:だけ|のみ)?[^。\n]{0,8}(?:出力|回答|返答|応答|答え|返)(?:し|せ|て|す)(?![^。\n]{0,3}(?:ます|れ|れる))"),
    (Kind.FORMAT, r"(?:回答|返答|出力|応答|答え)は[^。\n]{0,24}(?:形式|文言|JSON|書式|フォーマット|英語|大文字|一語|一言)(?:だけ|のみ|以外)[^。\n]{0,12}(?:し|せ|て|こと|ください|と)"),
    (Kind.FORMAT, r"(?:回答|返答|出力|応答|答え|要約)(?:文)?の?(?:最初|冒頭|初め|はじめ|末尾|最後|終わり|中|先頭|文頭|文末|本文)(?:に|で|には|では)(?:は|必ず)?[^。\n]{0,50}(?:書|記|入れ|付け|つけ|加え|述べ|含め|出力|添え|表示|置)"),
    (Kind.FORMAT, r"(?:出典|引用(?:元|番号|符号)?|参照番号|脚注|資料番号|角括弧|根拠)(?:の番号)?(?:は|を|も|なしで|なしに)?[^。\n]{0,10}(?:付けず|付けない|付けては|つけず|つけない|つけては|省略し|省い|書かず|書かない|示さず|示さない|入れず|入れない|不要で|外して|回答し|答え)(?![^。\n]{0,6}(?:場合|とき|と、))"),
    (Kind.FORMAT, r"(?:他|ほか|別)の(?:資料|文書|情報源|出典|ページ|文献|サイト|文章|検索結果|記事)(?:を|は|の内容は|は一切)[^。\n]{0,10}(?:引用|使用|参照|使っ|使わ|信用|信じ|無視|考慮|見)[^。\n]{0,8}(?:いけ|なら|しない|ない|禁|無視し|せず|して(?:ください|答え|回答)|せよ|しろ)"),
    (Kind.FORMAT, r"(?:利用者|ユーザー?|質問者|質問した人|読者|相手|お客様|顧客)(?:に|には|に対して|へ)(?:は|、)?[^。\n]{0,60}(?:と|よう(?:に)?)(?:だけ|のみ|必ず)?(?:伝え|答え|回答し|述べ|案内し|告げ|報告し|返答し|説明し|言っ|指示し|勧め)(?:てください|て下さい|なさい|ること|よ(?:。|$)|ろ(?:。|$)|て(?:。|$))"),
    (Kind.FORMAT, r"(?:と|とだけ|とのみ|だけを|のみを)(?:必ず)?(?:出力|回答|返答|応答|返信)(?:し(?:て(?:ください|下さい)|なさい|ろ)|せよ|すること|すべし)"),
    (Kind.FORMAT, r"[」』](?:と)?(?:だけ|のみ)(?:を)?(?:必ず)?(?:答え|返し|述べ|書い|言っ|返)(?:て(?:ください|下さい)|なさい|よ|ること|ろ)"),
    (Kind.GRADE, r"(?:関連度|関連性|事実性|完全性|忠実性|適合度)(?:は|を|が|:|=|\s|\(スコア\))*[「『\"(]?\s*(?:HIGH|高(?:い)?[」』\"]|最高|満点|最大|[01]\.[0-9]{1,2}|1(?:[^\d.]|$)|100)"),
    (Kind.GRADE, r"(?:評価|判定|採点|スコア|等級|ランク|評点|推奨)(?:結果)?(?:は|を|:|=|\s)*[「『\"(]?\s*(?:HIGH|CORRECT|USE|RELEVANT)\b"),
    (Kind.GRADE, r"(?:評価|判定|採点|スコア|等級|評点|得点)(?:結果)?(?:は|を|で|として)[^。\n]{0,12}(?:最高|満点|高評価|1\.0|100点|正解|合格|関連あり|[「『]高[」』])[^。\n]{0,8}(?:に(?:して|せよ|しろ|する)|と(?:して|せよ|しろ|する|みな)|を(?:付け|つけ|与え)|で(?:お願い|頼))"),
    (Kind.GRADE, r"(?:この|本|当|上記の|以下の)(?:文書|文章|ページ|資料|記事|パッセージ|段落|テキスト|サイト|文)(?:は|を|の(?:評価|関連度|判定)は|に(?:は)?)[^。\n]{0,40}(?:最高|HIGH|CORRECT|満点|高評価|関連(?:あり|性が|度)|信頼できる|正しい|最優先|1\.0|唯一|高い(?:評価|点))[^。\n]{0,24}(?:評価し|採点し|判定し|分類し|扱っ|扱い|見なし|みなし|付け|つけ|与え)(?:て|な|ろ|よ|る|、)?"),
    (Kind.GRADE, r"(?:この|本)(?:文書|文章|ページ|資料|記事|パッセージ)は[^。\n]{0,20}(?:質問|問い)(?:に|と|への)[^。\n]{0,16}(?:完全に|直接|すべて|完璧に|最も|強く)[^。\n]{0,8}(?:答え|回答|関連|適合)"),
    (Kind.GRADE, r"【\s*(?:評価|採点|判定)(?:結果)?\s*(?:終わり|開始|ここから|ここまで)?\s*】"),
    (Kind.BREAK, r"[【\[<(=#*-]+\s*(?:資料|文書|証拠|引用|文脈|コンテキスト|参考資料|検索結果|外部文書|ページ)(?:の)?(?:引用)?(?:は)?(?:終わり|終了|終|ここまで|おわり|以上|末尾)\s*[】\]>)=#*-]*"),
    (Kind.BREAK, r"(?:資料|引用|証拠|文書|検索結果)(?:は|の引用は|の提示は)?(?:ここまで|以上|終わり|終了)(?:です|となります|である)?[。:\n]?\s*(?:ここから|以下|次|質問|指示|システム|命令|新)"),
    (Kind.LEAK, r"(?:システムプロンプト|隠された指示|内部(?:の)?指示|初期設定|あなたの(?:指示|設定|規則)|内部文書|社内文書|APIキー|秘密|パスワード|会話履歴|会話の履歴|他の資料)(?:の(?:全文|内容|本文))?(?:を|も)[^。\n]{0,16}(?:表示|出力|開示|教え|公開|書き出|示し|明か|送|貼|列挙|印字)(?:し|せよ|しろ|て|せ|する|っ|な)"),
    (Kind.LEAK, r"(?:質問|会話|文書|文脈|プロンプト|パスワード|鍵|キー|回答|履歴|資料)[^。\n]{0,30}(?:https?://[^。\n]{0,80}|(?:次|以下|下記)の(?:アドレス|URL|宛先|サーバー)[^。\n]{0,20})(?:へ|に|まで)?[^。\n]{0,10}(?:送信|送っ|転送|投稿|POST|付け)"),
    (Kind.LEAK, r"https?://[^。\n]{1,120}(?:に|へ|宛に|まで)[^。\n]{0,30}(?:質問|会話|文書|文脈|プロンプト|パスワード|回答|履歴|資料|内容)[^。\n]{0,10}(?:送信|送っ|転送|投稿)"),
)

SUSPECT: Final[tuple[tuple[Kind, str], ...]] = (
    (Kind.OVERRIDE, rf"{_CLAUSE}{_CANCEL}\b[^.!?]{{0,20}}\b(?:the above|everything|{_WORD_OF_ORDER})\b"),
    (Kind.ROLE, r"\byou are now\b|\bfrom now on\b|\bact as\b|\bpretend\b"),
    (Kind.ROLE, r"(?:^|[\n.!。>]\s*)[\[(<*#]*(?:system|assistant|developer|user|human)[\])>*]*\s*:"),
    (Kind.FORMAT, rf"{_CLAUSE}{_SAY}\b"),
    (Kind.FORMAT, r"\b(?:in|at the (?:beginning|end|start) of) (?:your|the) (?:answer|reply|response|output|summary)\b"),
    (Kind.FORMAT, r"\b(?:do not|don't|never)\b[^.!?]{0,30}\b(?:cite|quote|mention|use|consult|trust)\b"),
    (Kind.FORMAT, r"\b(?:the )?(?:user|asker|questioner)\b[^.!?]{0,30}\b(?:has|is|wants|confirmed|asked|needs|must|prefers)\b"),
    (Kind.GRADE, rf"(?:^|[\n,;{{]\s*)[\"'*_\s#-]*(?:{_WEAK_KEYS}|{_GRADE_KEYS}|passage|issues?)[\"'*_\s]*[:=]\s*\S"),
    (Kind.GRADE, rf"{_CLAUSE}(?:grade|rate|mark|score|classify|rank|judge)\b"),
    (Kind.GRADE, r"\b(?:correct|right|true|only|official|verified) (?:answer|reply|response)\b"),
    (Kind.BREAK, r"^\W*(?:end|begin|stop)\b.{0,40}$|</?[a-z]{3,20}>|<\|[a-z_]+\|>"),
    (Kind.TEMPLATE, r"[{\[]\s*[\"'][^\"'\n]{1,40}[\"']\s*:"),
    (Kind.ADDRESS, rf"\b(?:language model|ai assistant|llm|chatbot|system prompt)s?\b"),
    (Kind.OVERRIDE, r"(?:指示|命令|プロンプト|ルール|規則|設定|手順)(?:を|は)[^。]{0,8}(?:無視|忘れ|破棄|上書き)"),
    (Kind.ROLE, r"(?:あなた|君)は[^。]{0,6}(?:今から|いまから|これから|以後|以降)"),
    (Kind.FORMAT, r"(?:回答|返答|出力|応答)(?:は|して|せよ|しろ|する|に|を)|(?:答え|述べ|返し)(?:て|なさい|よ)"),
    (Kind.FORMAT, r"(?:利用者|ユーザー?|質問者)(?:に|は|が)"),
    (Kind.FORMAT, r"(?:正しい|正解の|唯一の|公式の|本当の)(?:答え|回答|解答)"),
    (Kind.GRADE, r"(?:評価|関連度|関連性|事実性|完全性|判定|採点|スコア|推奨)\s*(?:は|を|:|=)"),
    (Kind.BREAK, r"(?:終わり|終了|ここまで|ここから)\s*[】\]>)]|^\W*(?:以上|ここから)"),
    (Kind.ADDRESS, r"システムプロンプト|言語モデル|AIアシスタント|チャットボット"),
)

MENTIONED: Final = re.compile(
    r"\b(?:such as|example|e\.g\.|like|sentences?|phrases?|strings?|words?|wording|prompt|attacks?|attackers?|says?|said|typed?|wrote|writes?|written"
    r"|called|known as|inputs?|injections?|titled|reads?|asked|tells?|told|found|lines?)\b"
    r"|例えば|たとえば|といった|という|などの?|と(?:入力|書|記|言)|のような|ような文|攻撃|文言|フレーズ|一文|文を|入力(?:す|し|され)",
    re.IGNORECASE,
)
"""What stands around an order that is only talked about."""
