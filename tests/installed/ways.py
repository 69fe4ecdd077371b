"""The ways to install Hooktray, each into a place of its own: Debian packages in clean roots, pip, pipx, uv."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tray.execution.isolation import base_interpreter

REPOSITORY = Path(__file__).parents[2]
RECIPES = REPOSITORY / "installers" / "linux"
RELEASES = dict(line.split() for line in (RECIPES / "releases").read_text().splitlines())
TOOLS = ("pip", "pipx", "uv")
LONG = 1800.0  # seconds for what fetches or builds packages, on a busy machine
HOUR = 3600.0  # seconds for a test that does several of these
NETWORK = {  # of this machine, for what fetches packages; tests themselves live without
    name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_CERT_", "UV_"))
}
ROOTS = os.environ.get("ROOTS", "")  # where clean roots are kept packed; "" = nowhere beyond this run
DIST = os.environ.get("DIST", "")  # has what a release built already; "" = everything is built here
OLDER = "0.0.1"  # the version of the build that is upgraded
GONE = "gone.py"  # a module of that build that no later one has
PLAIN = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm"}
USER = 1000
OWN = (".claude", ".config/hooktray", ".local/share/hooktray", ".local/state/hooktray")  # of the user, below the home


def call(*argv: str | Path, environment: dict[str, str] | None = None, **more: object) -> str:
    """What a program of the test's own prints; its failure is the test's."""
    everything = {**PLAIN, **NETWORK, **(environment or {})}
    done = subprocess.run(argv, env=everything, capture_output=True, text=True, timeout=LONG, check=False, **more)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{argv}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return str(done.stdout)


def packed_roots(folder: Path) -> Path:
    """Where clean roots are kept packed."""
    return Path(ROOTS) if ROOTS else folder / "roots"


def source(folder: Path) -> Path:
    """The committed files, as a checkout has them."""
    folder.mkdir()
    archive = subprocess.run(
        ["git", "archive", "HEAD"], cwd=REPOSITORY, stdout=subprocess.PIPE, timeout=LONG, check=True
    )
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, timeout=LONG, check=True)
    return folder


class Way:
    """Installs Hooktray for a user whose home is `home`, and runs programs as that user."""

    name: str
    home: Path

    def words(self, *argv: str) -> list[str]:
        """The whole command line by which the user runs this one in the home."""
        raise NotImplementedError

    def install(self, *, older: bool = False) -> None:
        raise NotImplementedError

    def remove(self) -> None:
        raise NotImplementedError

    def left(self) -> list[str]:
        """The files that a removal left behind, without the user's own."""
        raise NotImplementedError

    def has(self, name: str) -> bool:
        """Whether this module of the package is installed."""
        raise NotImplementedError

    def age(self) -> None:
        """Make the last change of the installed packages an old one."""

    def close(self) -> None:
        """End what was taken for it."""

    def run(self, *argv: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.words(*argv), input=text, env=PLAIN, capture_output=True, text=True, timeout=LONG, check=False
        )

    def says(self, *argv: str) -> str:
        done = self.run(*argv)
        assert done.returncode == 0, f"{argv}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def forget(self) -> None:
        """Take away what Hooktray keeps for the user."""
        for name in OWN:
            shutil.rmtree(self.home / name, ignore_errors=True)

    def write(self, name: str, text: str, mode: int = 0o600) -> None:
        """A file of the user's, by its path below the home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        owner = self.home.stat()
        for one in (path, *path.parents):
            if one == self.home:
                break
            os.chown(one, owner.st_uid, owner.st_gid)


class Root:
    """A clean root of a release, with a user called somebody."""

    def __init__(self, release: str, packed: Path) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="hooktray-try.", dir="/var/tmp"))
        self._mounted: list[Path] = []
        call(RECIPES / "clean-root", release, self.path, environment={"ROOTS": str(packed)})
        self.mount("/proc", "proc", "-t", "proc")
        for place in ("dev", "dev/pts"):
            self.mount(f"/{place}", place, "--bind")
        self.run("apt-get", "update", "-qq")
        self.run("useradd", "--uid", str(USER), "--create-home", "--shell", "/bin/sh", "somebody")
        self.home = self.path / "home" / "somebody"

    def mount(self, device: str, place: str, *options: str) -> None:
        call("mount", *options, device, self.path / place)
        self._mounted.insert(0, self.path / place)

    def run(self, *argv: str) -> str:
        """As root, whose network is this machine's."""
        network = [f"{name}={value}" for name, value in NETWORK.items()]
        plain = [f"{name}={value}" for name, value in PLAIN.items()]
        quiet = ("DEBIAN_FRONTEND=noninteractive", "HOME=/root")
        return call("chroot", self.path, "env", "-i", *plain, *network, *quiet, *argv)

    def packages(self, *names: str) -> None:
        self.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *names)

    def words(self, *argv: str, path: str = "/usr/bin:/bin") -> list[str]:
        """As somebody, in the home."""
        own = (f"PATH={path}", "HOME=/home/somebody", "LC_ALL=C.UTF-8", "TERM=xterm")
        inside = ["chroot", f"--userspec={USER}:{USER}", str(self.path), "env", "-i", *own]
        return [*inside, "sh", "-c", 'cd; exec "$@"', "sh", *argv]

    def files(self) -> set[str]:
        """All but those of the system's own work and of the homes."""
        others = (
            "proc",
            "dev",
            "tmp",
            "var/lib/dpkg",
            "var/lib/apt",
            "var/cache",
            "var/log",
            "root",
            "home/somebody",
        )
        left_out = [word for place in others for word in ("!", "-path", f"/{place}/*")]
        # Another program's temporary files may go meanwhile.
        return set(self.run("find", "/", "-xdev", "-ignore_readdir_race", *left_out).splitlines())

    def close(self) -> None:
        for place in self._mounted:
            subprocess.run(["umount", place], timeout=LONG, check=True)
        shutil.rmtree(self.path)


class Deb(Way):
    """The Debian package, built in one clean root of the release and tried in another."""

    def __init__(self, release: str, folder: Path, packed: Path) -> None:
        self.name = release
        self.package = _package(release, folder, packed)
        self._older = _older_package(self.package)
        self.root = Root(release, packed)
        self.home = self.root.home
        # What it depends on, and what the tests use, comes first, so that what is compared is the package alone.
        self.root.packages("python3", "man-db", "procps")
        for one in (self.package, self._older):
            shutil.copy(one, self.root.path / "root")
        self._before = self.root.files()

    def words(self, *argv: str) -> list[str]:
        return self.root.words(*argv)

    def install(self, *, older: bool = False) -> None:
        package = f"/root/{(self._older if older else self.package).name}"
        self.root.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "--allow-downgrades", package)

    def remove(self) -> None:
        self.root.run("hooktray", "--version")  # also when root has used it, nothing may be left
        self.root.run("apt-get", "purge", "-y", "-qq", "hooktray")

    def left(self) -> list[str]:
        return sorted(self.root.files() - self._before)

    def has(self, name: str) -> bool:
        return any((self.root.path / "usr/lib/hooktray").glob(f"lib/python3*/site-packages/tray/{name}"))

    def close(self) -> None:
        self.root.close()


class Tool(Way):
    """The wheel, by one of Python's own tools, in an empty home."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.home = folder / "home"
        self.home.mkdir()
        self._tools = folder / "tools"
        self._cache = folder / "cache"
        self._python = base_interpreter()
        call(self._python, "-m", "venv", self._tools)
        if name == "pip":
            call(self._python, "-m", "venv", self._venv)
        else:
            call(self._tools / "bin" / "pip", "install", "-q", name)
        self._older, self._wheel = (
            _wheel(folder / each, self._tools, each == "older") for each in ("older", "newer")
        )

    @property
    def _venv(self) -> Path:
        return self.home / "venv"

    def words(self, *argv: str) -> list[str]:
        environment = [f"{name}={value}" for name, value in self._environment().items()]
        return ["env", "-i", *environment, "sh", "-c", 'cd; exec "$@"', "sh", *argv]

    def install(self, *, older: bool = False) -> None:
        wheel = self._older if older else self._wheel
        if self.name == "pip":
            self._call(self._venv / "bin" / "pip", "install", "-q", wheel)
        else:
            verb = ("uv", "tool", "install") if self.name == "uv" else ("pipx", "install")
            self._call(self._tools / "bin" / verb[0], *verb[1:], "--force", "--python", self._python, wheel)

    def remove(self) -> None:
        if self.name == "pip":
            self._call(self._venv / "bin" / "pip", "uninstall", "-q", "--yes", "hooktray")
        else:
            verb = ("uv", "tool") if self.name == "uv" else ("pipx",)
            self._call(self._tools / "bin" / verb[0], *verb[1:], "uninstall", "hooktray")

    def left(self) -> list[str]:
        found = (path.relative_to(self.home) for path in self.home.rglob("*hooktray*") if path.suffix != ".lock")
        return sorted(str(path) for path in found if not any(path.is_relative_to(own) for own in OWN))

    def has(self, name: str) -> bool:
        return any(self.home.rglob(f"site-packages/tray/{name}"))

    def age(self) -> None:
        for site in self.home.rglob("site-packages"):
            os.utime(site, (0, 0))

    def _environment(self) -> dict[str, str]:
        own = self._venv / "bin" if self.name == "pip" else self.home / ".local" / "bin"
        return {**PLAIN, "PATH": f"{own}:/usr/bin:/bin", "HOME": str(self.home)}

    def _call(self, *argv: str | Path) -> None:
        caches = {
            "UV_CACHE_DIR": str(self._cache),
            "UV_PYTHON_DOWNLOADS": "never",
            "XDG_CACHE_HOME": str(self._cache),
        }
        call(*argv, environment={**self._environment(), **caches})


def make(name: str, folder: Path, packed: Path) -> Way:
    return Tool(name, folder) if name in TOOLS else Deb(name, folder, packed)


def _package(release: str, folder: Path, packed: Path) -> Path:
    """The package of this release: a copy of that which was built already, else a new one."""
    for built in Path(DIST).glob(f"hooktray_*+{release.replace('-', '')}_*.deb") if DIST else ():
        return Path(shutil.copy(built, folder))
    roots = {"ROOTS": str(packed)}
    (made,) = call(RECIPES / "debs", "--out", folder, release, cwd=REPOSITORY, environment=roots).splitlines()
    return Path(made)


def _older_package(package: Path) -> Path:
    """The same files under a lower version, and one more."""
    folder = package.parent / "older"
    call("dpkg-deb", "-R", package, folder)
    control = folder / "DEBIAN" / "control"
    version = package.name.split("_")[1]
    lower = f"{OLDER}+{version.split('+')[1]}"
    control.write_text(control.read_text().replace(f"Version: {version}\n", f"Version: {lower}\n"))
    (tray,) = folder.glob("usr/lib/hooktray/lib/python3*/site-packages/tray")
    _make_older(tray)
    for compiled in (tray / "__pycache__").glob("__init__.*"):
        compiled.unlink()
    older = package.with_name(package.name.replace(version, lower))
    call("dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", folder, older)
    return older


def _wheel(folder: Path, tools: Path, is_older: bool) -> Path:
    """Made from the committed files, as a release makes it, for this machine."""
    checkout = source(folder)
    if is_older:
        _make_older(checkout / "tray")
    call(tools / "bin" / "pip", "wheel", "-q", "--no-deps", "-w", checkout / "dist", checkout)
    (made,) = (checkout / "dist").glob("*.whl")
    return made


def _make_older(tray: Path) -> None:
    text = (tray / "__init__.py").read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("__version__ = "))
    (tray / "__init__.py").write_text(text.replace(line, f'__version__ = "{OLDER}"'))
    (tray / GONE).write_text('"""A module that later versions have no more."""\n')


def python_of(way: Way) -> str:
    """The Python that runs it, as the trial's table shows it."""
    (version,) = {path.name for path in _sites(way)}
    return version.removeprefix("python")


def _sites(way: Way) -> list[Path]:
    below = way.root.path / "usr/lib/hooktray" if isinstance(way, Deb) else way.home
    return [path.parents[1] for path in below.rglob("site-packages/tray")]
