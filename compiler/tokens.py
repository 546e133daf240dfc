"""Tokens of LLVM's textual representation."""

import re

__all__ = ["Tokens"]

_TOKEN = re.compile(r"""
    c?"[^"]*" | [%@!\#$](?:"[^"]*"|[\w.$-]+) | ![{(]? | -?\d[\w.+-]* | [A-Za-z_.][\w.]*: | [A-Za-z_.][\w.-]* | \.\.\.
    | [(){}\[\]<>,=*:|]
""", re.VERBOSE)


class Tokens:
    """A cursor over the tokens of one statement."""

    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.findall(text)
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def accept(self, *wanted: str) -> bool:
        if self.peek() in wanted:
            self.at += 1
            return True
        return False

    def skip_to(self, wanted: set[str]) -> None:
        """Go past words (flags, attributes with or without parentheses) up to one of ``wanted``, or a type."""
        while self.peek() and self.peek() not in wanted:
            if self.accept("("):
                self.close(")")
            else:
                self.at += 1

    def close(self, bracket: str) -> None:
        """Go past ``bracket``, whose opening token has been read."""
        depth = 1
        while depth and self.peek():
            token = self.next()
            depth += (token[-1] in "([{<" and token[0] not in '"c') - (token in ")]}>")
