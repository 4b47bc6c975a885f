#!/bin/bash
FILE_PATH=$(jq -r '.tool_input.file_path // empty')

# Only process TypeScript files
if [[ ! "$FILE_PATH" =~ \.(ts|tsx)$ ]]; then
  exit 0
fi

# Do something with TypeScript files
npx prettier --write "$FILE_PATH"
exit 0
