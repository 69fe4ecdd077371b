"""Updates the catalogues from the code and the templates, and compiles them: `python docs/catalogues.py`."""

from pathlib import Path

from babel.messages import mofile, pofile
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir

from tray.language import FOLDER

METHODS = [("**.py", "python"), ("**.html", "jinja2")]
KEYWORDS = {"_": None, "say": None, "phrase": None, "ngettext": (1, 2), "count": (1, 2), "plural": (1, 2)}


def sentences(folder: Path = FOLDER.parent) -> Catalog:
    """Returns every marked sentence of the code and the templates below `folder`, in the order of files and lines."""
    found = Catalog()
    for file, line, text, _, _ in extract_from_dir(folder, METHODS, keywords=KEYWORDS):
        found.add(text, locations=[(file, line)])
    return found


if __name__ == "__main__":
    for path in FOLDER.glob("*.po"):
        with path.open("rb") as before:
            catalogue = pofile.read_po(before)
        catalogue.update(sentences(), no_fuzzy_matching=True, update_creation_date=False)
        with path.open("wb") as after, path.with_suffix(".mo").open("wb") as compiled:
            pofile.write_po(after, catalogue, width=0, no_location=True, ignore_obsolete=True)
            mofile.write_mo(compiled, catalogue)
