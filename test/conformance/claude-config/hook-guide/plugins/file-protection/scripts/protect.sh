#!/bin/bash
# scripts/protect.sh
FILE_PATH=$(jq -r '.tool_input.file_path // empty')

PROTECTED=(".env" ".git/" "credentials.json" "private.key")

for pattern in "${PROTECTED[@]}"; do
  if [[ "$FILE_PATH" == *"$pattern"* ]]; then
    echo "Error: Cannot modify protected file: $FILE_PATH" >&2
    exit 2
  fi
done

exit 0
