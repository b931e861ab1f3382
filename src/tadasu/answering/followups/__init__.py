"""How a follow-up leans on the question before it, per language; `tadasu.answering.conversation` puts it together."""
