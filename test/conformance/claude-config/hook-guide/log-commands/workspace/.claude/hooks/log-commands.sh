#!/bin/bash
COMMAND=$(jq -r '.tool_input.command // empty')
LOG_FILE="${CLAUDE_PROJECT_DIR}/.command-history.log"

echo "$(date): $COMMAND" >> "$LOG_FILE"
exit 0
