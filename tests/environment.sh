# For `. tests/environment.sh`: unsets every variable that changes how Python runs, so that a script does the same for
# everybody. PYTHON stays: Python does not read it, and tests/all takes its interpreter from there.
for name in $(env | sed -n 's/^\(PYTHON[A-Z0-9_a-z]\{1,\}\)=.*/\1/p'); do
    unset "$name"
done

# `timed NAME COMMAND...` runs the command. When the script ends, the time of each NAME and of all is printed.
times="" began=$(date +%s)
timed() {
    [ -n "$times" ] || trap 'echo "${times}whole $(since "$began")"' EXIT
    part_began=$(date +%s) part=$1
    shift
    part_code=0
    "$@" || part_code=$?
    times="$times$part $(since "$part_began"), "
    return $part_code
}
since() {
    seconds=$(($(date +%s) - $1))
    printf '%d:%02d' $((seconds / 60)) $((seconds % 60))
}
