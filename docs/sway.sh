#!/bin/bash
# A real Wayland desktop without a monitor, by hand: sway, waybar's tray and mako, with Hooktray in it.
#   docs/sway.sh PYTHON PICTURE.png      (not as root: sway refuses; apt install sway waybar mako-notifier grim dbus)
set -eu
if [ -z "${SWAY_DESK-}" ]; then
  PYTHON=$1 PICTURE=$2 SWAY_DESK=$(mktemp -d)
  trap 'rm -rf "$SWAY_DESK"' EXIT
  mkdir -p "$SWAY_DESK"/{run,config/waybar,home}
  chmod 700 "$SWAY_DESK/run"
  export SWAY_DESK PYTHON PICTURE HOME=$SWAY_DESK/home XDG_RUNTIME_DIR=$SWAY_DESK/run XDG_CONFIG_HOME=$SWAY_DESK/config
  export XDG_CURRENT_DESKTOP=sway XDG_SESSION_TYPE=wayland LC_ALL=C.UTF-8
  export WLR_BACKENDS=headless WLR_RENDERER=pixman WLR_LIBINPUT_NO_DEVICES=1
  unset DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
  cat >"$XDG_CONFIG_HOME/waybar/config" <<'BAR'
{"position": "top", "height": 30, "modules-right": ["tray"], "tray": {"icon-size": 22, "spacing": 6}}
BAR
  printf 'output HEADLESS-1 resolution 900x420\noutput HEADLESS-1 bg #3a5a72 solid_color\n' >"$SWAY_DESK/sway"
  dbus-run-session -- "$0"
  exit
fi

started=()
end() { kill "${started[@]}" 2>/dev/null || true; wait 2>/dev/null || true; }
trap end EXIT
begin() { "$@" >"$SWAY_DESK/$1.log" 2>&1 & started+=($!); }
until_so() { for _ in $(seq 100); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; echo "not so: $*" >&2; exit 1; }
tray() { "$PYTHON" -I -m tray --home "$SWAY_DESK/h" "$@"; }

begin sway -c "$SWAY_DESK/sway"
until_so ls "$XDG_RUNTIME_DIR/wayland-1"
export WAYLAND_DISPLAY=wayland-1
begin mako
begin waybar
until_so busctl --user status org.kde.StatusNotifierWatcher
"$PYTHON" -I -m tray --home "$SWAY_DESK/h" run >"$SWAY_DESK/tray.log" 2>&1 &
started+=($!)
until_so busctl --user status org.freedesktop.Notifications
until_so sh -c "'$PYTHON' -I -m tray --home '$SWAY_DESK/h' status --json | grep -q '\"icon\": \"sni\"'"
event='{"session_id": "s", "cwd": "/home/you/api", "hook_event_name": "Stop"}'
printf %s "$event" | "$PYTHON" -I -m tray relay --home "$SWAY_DESK/h" claude-code Stop
until_so sh -c 'makoctl list | grep -q "Turn ended"'
echo "tray: $(tray status --json)"
echo "items: $(busctl --user get-property org.kde.StatusNotifierWatcher /StatusNotifierWatcher org.kde.StatusNotifierWatcher RegisteredStatusNotifierItems)"
makoctl list
grim "$PICTURE"
# mako's own way to press a button: the last notification's Snooze
makoctl invoke snooze
sleep 0.5
printf %s "$event" | "$PYTHON" -I -m tray relay --home "$SWAY_DESK/h" claude-code Stop
until_so sh -c "'$PYTHON' -I -m tray --home '$SWAY_DESK/h' log --json | head -1 | grep -q '\"alerted\": \"held\"'"
echo "snoozed by mako: the next alert is held back"
