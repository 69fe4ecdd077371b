if [ error ]; then
echo '{"decision": "block", "reason": "Error occurred"}' >&2
exit 1
fi
