# For `. tests/environment.sh`: unsets every variable that changes how Python runs, so that a script does the same for
# everybody. PYTHON stays: Python does not read it, and tests/all takes its interpreter from there.
for name in $(env | sed -n 's/^\(PYTHON[A-Z0-9_a-z]\{1,\}\)=.*/\1/p'); do
    unset "$name"
done
