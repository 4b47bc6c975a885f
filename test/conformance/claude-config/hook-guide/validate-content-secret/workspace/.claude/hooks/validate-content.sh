#!/bin/bash
set -e

NEW_CONTENT=$(jq -r '.tool_input.new_string // empty')

# Check for secrets
if echo "$NEW_CONTENT" | grep -qi "API_KEY.*="; then
  echo "Error: Detected potential secret" >&2
  exit 2  # Block
fi

exit 0
