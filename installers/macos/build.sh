#!/bin/sh
# Makes dist/Hooktray-VERSION.dmg on macOS: freezes the app, signs it, has it notarised, puts it into an image.
# Usage: installers/macos/build.sh. Signing wants SIGN_IDENTITY ("Developer ID Application: …"), notarising NOTARY_PROFILE
# (made once with `xcrun notarytool store-credentials`). Without them the app is signed ad hoc, for this Mac alone.
set -eu
cd "$(dirname "$0")/../.."
[ "$(uname -s)" = Darwin ] || { echo "Hooktray.app can only be made on macOS" >&2; exit 1; }
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' tray/__init__.py)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${PYTHON:-python3}" -m venv "$work/tools"
"$work/tools/bin/python" -m pip install -q --disable-pip-version-check pyinstaller -e .
"$work/tools/bin/python" -m PyInstaller --log-level WARN --noconfirm --distpath "$work/dist" --workpath "$work/build" installers/hooktray.spec
app=$work/dist/Hooktray.app

# Inner parts first; --deep would sign them with the wrong entitlements.
sign() {
    if [ -n "${SIGN_IDENTITY:-}" ]; then codesign --force --timestamp --options runtime --sign "$SIGN_IDENTITY" "$@"; else codesign --force --sign - "$@"; fi
}
find "$app/Contents" -type f \( -name '*.so' -o -name '*.dylib' -o -name 'hooktray-hook' \) -print | while read -r part; do sign "$part"; done
sign --entitlements installers/macos/entitlements.plist "$app"
codesign --verify --strict --verbose=2 "$app"

mkdir -p "$work/image" dist
cp -R "$app" "$work/image/"
ln -s /Applications "$work/image/Applications"
image=dist/Hooktray-$version.dmg
hdiutil create -quiet -ov -volname Hooktray -srcfolder "$work/image" -format UDZO "$image"
if [ -n "${SIGN_IDENTITY:-}" ] && [ -n "${NOTARY_PROFILE:-}" ]; then
    codesign --force --timestamp --sign "$SIGN_IDENTITY" "$image"
    xcrun notarytool submit "$image" --keychain-profile "$NOTARY_PROFILE" --wait
    xcrun stapler staple "$image"
    spctl --assess --type open --context context:primary-signature "$image"
fi
echo "$image"
