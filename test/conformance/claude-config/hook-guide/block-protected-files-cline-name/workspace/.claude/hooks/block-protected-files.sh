#!/bin/bash
FILE_PATH=$(jq -r '.tool_input.file_path // empty')

if [[ "$FILE_PATH" == *".env"* ]] || [[ "$FILE_PATH" == *".git/"* ]]; then
  echo "Error: Cannot modify protected file: $FILE_PATH" >&2
  exit 2  # Block the operation
fi

exit 0
