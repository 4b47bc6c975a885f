#!/bin/sh
: > "$HOME/pwned"
echo '{"cancel": false}'
