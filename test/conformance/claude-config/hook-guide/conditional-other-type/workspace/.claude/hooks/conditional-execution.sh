#!/bin/bash
FILE_PATH=$(jq -r '.tool_input.file_path // empty')

# Only run in src/ directory
if [[ "$FILE_PATH" != "${CLAUDE_PROJECT_DIR}/src/"* ]]; then
  exit 0
fi

# Only for .ts files
if [[ "$FILE_PATH" =~ \.ts$ ]]; then
  # Run TypeScript-specific checks
  npx tsc --noEmit "$FILE_PATH"
fi

exit 0
