"""What the pages made of a release have in common: the frame around their sections, and the promise."""

from __future__ import annotations

from fim_private.release import Release
from fim_private.release.release import SEEDED_NOTE
from fim_private.report.document import Bullets, Document, Paragraph, Section
from fim_private.report.document.text import stated
from fim_private.report.promise_in_short import promised_briefly
from fim_private.report.promise_text import promised


def released_page(release: Release, *, title: str, sections: tuple[Section, ...], command: str) -> Document:
    """The page of these sections, made by a command."""
    return Document(
        title=title,
        banner=_banner(release),
        alarm=release.seeded or release.terms.privacy.promise is None,
        introduction=(Paragraph(text=_introduction(release)),),
        sections=sections,
        footer=f"Made by `fim-private {command}` from the release alone.",
    )


def _banner(release: Release) -> str:
    """What nobody may overlook."""
    if release.seeded:
        return "SEEDED, NOT PRIVATE: anyone who knows the seed can undo the noise. Do not publish this page."
    promise = release.terms.privacy.promise
    if promise is None:
        return "WITHOUT A PROMISE: the file does not say what is protected. Treat it as not private."
    epsilon, delta = stated(promise.epsilon), stated(promise.delta)
    return f"Differentially private: epsilon {epsilon}, delta {delta}. Noise was added to what is shown."


def _introduction(release: Release) -> str:
    """What the page shows and hides."""
    if release.seeded:
        return f"**This release is not private: {SEEDED_NOTE}.** Everything below is for tests and teaching."
    return (
        "This page shows what many have in common. Added noise hides what any single one has, so a part may be wrong. "
        "[What is promised](#promise) says who is protected, and how well."
    )


def promise_section(release: Release) -> Section:
    """The promise: first in a shop's words, then in full. Readers of a page have no command line."""
    short = [Paragraph(text=f"{words} In full:") for words in promised_briefly(release)]
    full = Bullets(items=tuple(promised(release, options=False)))
    return Section(anchor="promise", title="What is promised", parts=(*short, full))
