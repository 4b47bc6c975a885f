#!/bin/bash
# scripts/format.sh
FILE_PATH=$(jq -r '.tool_input.file_path // empty')

if [[ "$FILE_PATH" =~ \.(js|jsx|ts|tsx|json|css|html|md)$ ]]; then
  prettier --write "$FILE_PATH" 2>/dev/null || true
fi

exit 0
