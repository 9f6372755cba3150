"""Documents: files in, files out, with everything but their text kept.

    extracted   a document as texts to translate, and back; limits, encoding: what a file may be
    plain, web, markdown (markdown_inline)            running text
    subtitles (cues)                                  srt, vtt
    gettext, json_strings, arb, yaml_strings, properties, delimited (strings)    strings of programs
    android, resx, qt (xml_strings)                   the same in XML
    docx, pptx, xlsx (ooxml), odt (package), xliff (xml, mixed)    XML; inline: tags to sentences and back

Pure functions without torch: whoever holds the file needs no model, and the model may live elsewhere.

    document = read_document("letter.docx", data)
    translations = translator.translate(
        [extract.text for extract in document.extracts],
        keep=[extract.keep for extract in document.extracts],
        alignment="links",
    )
    data_in_french = document.restore(translations)
"""

from nmt.documents.extracted import ExtractedDocument
from nmt.documents.limits import DocumentLimits
from nmt.documents.read import SUFFIXES, read_document, refusal, target_name

__all__ = ["SUFFIXES", "DocumentLimits", "ExtractedDocument", "read_document", "refusal", "target_name"]
