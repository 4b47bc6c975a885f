#!/bin/bash

# Add environment variables
if [ -n "$CLAUDE_ENV_FILE" ]; then
  echo "MY_VAR=value" >> "$CLAUDE_ENV_FILE"
  echo "PATH=$PATH:${CLAUDE_PLUGIN_ROOT}/bin" >> "$CLAUDE_ENV_FILE"
fi

# Create directories
mkdir -p "${CLAUDE_PROJECT_DIR}/.plugin-data"

# Output added to Claude's context
echo "Plugin initialized"
exit 0
