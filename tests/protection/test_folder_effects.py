"""A command that empties, moves or opens a folder above our files is about our files."""

from __future__ import annotations

from pathlib import Path

from every import every
from msgspec.structs import replace
from protection.test_self_protection import PLACES, event

from tray.model.decision import Verdict
from tray.protection.protected_paths import ProtectedPaths
from tray.protection.self_protection import Protection

# Words for the home, and for a folder between it and our files.
HOMES = ["~", "~/", "$HOME", '"$HOME"', "${HOME}", "${HOME:?}", "/home/u", "/home/u/", "/home", "/*", "..", "../"]
INNER = ["~/.config", "$HOME/.local", "/home/u/.local/state", "../.config", "~/.conf*", "~/.*"]
WAYS = [
    "rm -rf {}",
    "rm -r -f -- {}",
    "sudo rm -rf {}",
    "nice rm -rf {}",
    "sh -c 'rm -rf {}'",
    "eval rm -rf {}",
    "true && rm -rf {}",
    "cd {} && rm -rf * .*",
    "mv {} /tmp/old",
    "mv -t /tmp {}",
    "chmod -R 644 {}",
    "chmod -R a-rwx {}",
    "chmod --recursive go+w {}",
    "chmod 000 {}",
    "chown -R nobody {}",
    "setfacl -R -m u::- {}",
    "chattr -R +i {}",
    "find {} -delete",
    "find {} -type f -delete",
    "find {} -mindepth 1 -exec rm -rf {{}} +",
    "find {} -type f -print0 | xargs -0 rm -f",
    "find {} -exec chmod 000 {{}} ;",
    "echo {} | xargs rm -rf",
    "rsync -a --delete /tmp/empty/ {}",
    "rsync -a --remove-source-files {} /tmp/x",
    "docker run -v {}:/c alpine rm -rf /c",
    "docker run --rm --volume={}:/c:rw alpine true",
    "podman run --mount type=bind,source={},target=/c alpine true",
    "mount -t tmpfs none {}",
    "trash {}",
    "npx rimraf {}",
    "git -C {} clean -fdx",
    "cd {}; git clean -f -d",
    "shred -u {}",
]
BY_NAME = [
    "rm -rf ~/{.config,.cache}",
    "rm -rf /home/u/.{config,cache}",
    "mv ~/.config{,.old}",
    'docker run -v"$HOME":/h alpine true',
    "find ~ -name hooktray.yaml -delete",
    "find ~ -name 'hook*' -exec rm -rf {} +",
    "find / -iname '*.YAML' -delete",
    "find ~ -path '*/hooktray/*' -delete",
    "find ~ -name settings.json -delete",
    "find ~ -name '*.pyc' -o -name '*.db' -delete",
    "find ~ -regex '.*tray.*' -delete",
    "find ~ ! -name '*.md' -delete",
    "find ~ -name '*.yaml' | xargs rm",
    "rm -rf --no-preserve-root /",
    "find / -delete",
    "chmod -R 644 /",
    "cd && rm -rf .config",
    "cd ~; rm -rf .local",
    "python3 -c \"import shutil; shutil.rmtree('/home/u')\"",
    "python3 -c \"import os, shutil; shutil.rmtree(os.path.expanduser('~/.config'))\"",
    "node -e \"fs.rmSync('/home/u/.config', {recursive: true})\"",
    "node --eval \"fs.rmSync('/home/u/.config', {recursive: true})\"",
    "node -e \"fs.rmSync(require('os').homedir() + '/.config', {recursive: true})\"",
    "node -e \"fs.rmSync(path.join(process.env.HOME, '.config'), {recursive: true})\"",
    "node <<'E'\nfs.rmSync(os.homedir(), {recursive: true})\nE",
    'python3 -c "import shutil, pathlib; shutil.rmtree(pathlib.Path.home())"',
    "python3 - <<E\nhome = Path.home()\nshutil.rmtree(home / '.config')\nE",
    "python3 -c \"shutil.rmtree(os.environ['HOME'])\"",
    "python3 -c \"[p.unlink() for p in Path.home().rglob('*')]\"",
    "python3 -c \"os.rename(os.path.expanduser('~/.config'), '/tmp/x')\"",
    "python3 -c \"os.system('rm -rf ~')\"",
    "python3 -c \"subprocess.run(['rm', '-rf', '/home/u'])\"",
    "perl -MFile::Path -e 'rmtree($ENV{HOME})'",
    "perl -e 'system(\"rm -rf ~\")'",
    "ruby -rfileutils -e 'FileUtils.rm_rf(Dir.home)'",
    "tar --remove-files -cf /tmp/x.tar ~/.config",
    "zip -rm /tmp/x.zip ~/.config",
    "git -C ~ reset --hard",
    "cd ~ && git checkout -- .",
    "git --git-dir=/x --work-tree=$HOME checkout -f",
    "fd . ~/.config -x rm",
    "fd -H hooktray ~ -X rm -rf",
    "ssh localhost 'rm -rf ~'",
    "ssh localhost <<'E'\nrm -rf ~\nE",
    "bash <<'E'\nrm -rf ~\nE",
    "ls\nrm -rf ~",
    "cat <<E > x\na\nE\nrm -rf ~",
    "fd . ~ | xargs rm -rf",
    "fd config ~ | xargs rm -rf",
    "fd -td '^[.]config$' ~ | xargs rm -rf",
    "fd -e yaml . ~ | xargs rm",
    "fd -e pyc -e db . ~ -X rm",
    "fd --changed-within 1d . ~ | xargs rm",
    "fd '(.+)+x' ~ | xargs rm",
    # Our own folder and files, put together of their names.
    "python3 -c \"shutil.rmtree(Path.home()/'.config'/'hooktray')\"",
    "python3 -c \"(Path.home() / '.config' / 'hooktray' / 'hooktray.yaml').unlink()\"",
    "python3 - <<'E'\nos.remove(os.path.join(os.path.expanduser('~'), '.config', 'hooktray', 'hooktray.yaml'))\nE",
    "python3 -c \"os.unlink(os.path.expanduser('~') + '/.config/hooktray/hooktray.yaml')\"",
    "node -e \"fs.rmSync(path.join(os.homedir(), '.config', 'hooktray'), {recursive: true})\"",
]
# What people do all day, also in and beside their home.
HARMLESS = [
    "rm -rf ~/{.cache,.npm}",
    "mv notes{,.old}",
    "docker run -v$PWD:/x alpine true",
    "rm -rf build",
    "rm -rf ~/project/node_modules",
    "rm -rf /home/u/p/dist",
    "rm -rf *",
    "rm -rf .cache .pytest_cache",
    "rm -rf ~/Downloads/*",
    "rm -rf ~/*.tmp",
    "rm -rf /tmp/x",
    "rm -f ~/x.log",
    "rm -rf $(mktemp -d)",
    "ls ~ | grep x; rm -rf $(mktemp -d)",
    "cd ~/project && rm -rf build",
    "find . -name '*.pyc' -delete",
    "find . -delete",
    "find ~/project -name '*.json' -delete",
    "find ~ -name '*.pyc' -delete",
    "find ~ -name node_modules -prune -exec rm -rf {} +",
    "find ~ -name hooktray.yaml",
    "find . -type f -exec sed -i s/a/b/ {} +",
    "find . -name '*.o' | xargs rm -f",
    "find . -newer ~/.profile -delete",
    "fd node_modules ~ | xargs rm -rf",
    "fd -H -t d node_modules ~ | xargs rm -rf",
    "fd -td '^node_modules$' ~ -X rm -rf",
    "fd -e pyc . ~ | xargs rm",
    "python3 -c \"print((Path.home() / '.config' / 'hooktray').exists())\"",
    "python3 -c \"shutil.rmtree(Path.home() / '.cache' / 'hooktray-docs')\"",
    "python3 -c \"os.remove(os.path.expanduser('~/.config/nvim/init.vim'))\"",
    "node -e \"fs.rmSync(path.join(os.homedir(), '.config', 'nvim'), {recursive: true})\"",
    "fd '\\.orig$' ~ -x rm",
    "chmod -R u+w .",
    "chmod -R 755 ~/project",
    "chmod 700 ~",
    "chmod 755 /home/u",
    "chmod go-w ~",
    "chmod +x run.sh",
    "chown -R me .",
    "mv a b",
    "mv report.pdf ~",
    "mv report.pdf ~/",
    "mv -t ~ a b",
    "mv ~/Downloads/x.zip .",
    "cp -r . ~/backup",
    "rsync -a --delete build/ host:/srv/app",
    "rsync -a --delete src/ ~/backup/src/",
    "rsync -a --delete ~/ /mnt/backup",
    "docker run -v $PWD:/app -it node npm test",
    "docker run -v ~/.cache/pip:/root/.cache/pip python pip install x",
    "docker run -v /var/run/docker.sock:/var/run/docker.sock x",
    "docker run -v ~/.config:/c:ro alpine ls",
    "docker run --mount type=bind,source=/home/u,target=/x,readonly alpine ls",
    "docker run -v data:/var/lib/x x",
    "git clean -fdx",
    "git clean -n -d ~",
    "cd ~/project && git clean -fd",
    "rmdir empty",
    "trash build",
    "mount",
    "python3 -c \"import shutil; shutil.rmtree('build')\"",
    "python3 -c \"import shutil; shutil.rmtree('/tmp/x')\"",
    "python3 -c \"shutil.rmtree(os.path.join(os.environ['HOME'], 'tmp', 'x'))\"",
    "python3 - <<E\nhome = Path.home()\nshutil.rmtree(home / '.cache' / 'x')\nE",
    "python3 -c \"[p.unlink() for p in Path.home().rglob('*.pyc')]\"",
    "python3 -c \"shutil.move('report.pdf', Path.home())\"",
    "python3 -c \"subprocess.run(['rm', '-rf', 'build'])\"",
    "node -e \"fs.rmSync('dist', {recursive: true}); console.log(process.env.HOME)\"",
    "node -e \"fs.rmSync(require('os').homedir() + '/.npm/_logs', {recursive: true})\"",
    "tar czf /tmp/home.tgz ~",
    "tar --remove-files -czf logs.tgz logs",
    "zip -r /tmp/x.zip ~/.config",
    "git reset --hard",
    "git -C ~/.config/nvim reset --hard",
    "git -C ~ status",
    "fd -e pyc . ~ -x rm",
    "fd node_modules ~ -X rm -rf",
    "fd hooktray ~",
    "ssh host 'rm -rf ~'",
    "ssh -p 22 me@host find /home/u -delete",
]


def verdict(line: str, places: ProtectedPaths = PLACES) -> Verdict:
    found = Protection(protected_paths=places).judge(event("Bash", {"command": line}))
    return found.output.verdict if found else Verdict.ABSTAIN


@every("folder", HOMES + INNER)
@every("way", WAYS)
def test_what_takes_away_a_folder_above_our_files_takes_them_away(way: str, folder: str) -> None:
    assert verdict(way.format(folder)) >= Verdict.ASK


@every("line", BY_NAME)
def test_what_finds_our_files_below_such_a_folder_is_seen(line: str) -> None:
    assert verdict(line) >= Verdict.ASK


@every("line", HARMLESS)
def test_folders_without_our_files_are_their_owners_business(line: str) -> None:
    assert verdict(line) is Verdict.ABSTAIN


@every(
    ("setting", "folder"),
    [
        (".codex/hooks.json", ".codex"),
        (".codex/config.toml", ".codex"),
        (".github/hooks/lint.json", ".github"),
        (".config/opencode/opencode.json", ".config"),
        (".cursor/hooks.json", ".cursor"),
    ],
)
def test_a_folder_with_an_agents_hook_settings_is_one_of_them(tmp_path: Path, setting: str, folder: str) -> None:
    project = tmp_path / setting.replace("/", "-")
    (project / setting).parent.mkdir(parents=True)
    (project / setting).write_text("{}")
    other = tmp_path / "other" / folder
    other.mkdir(parents=True, exist_ok=True)
    places = replace(PLACES, home=(tmp_path / "home").as_posix())

    found = [verdict(f"rm -rf {one.as_posix()}", places) for one in (project / folder, other)]

    assert found == [Verdict.DENY, Verdict.DENY if folder == ".cursor" else Verdict.ABSTAIN]
