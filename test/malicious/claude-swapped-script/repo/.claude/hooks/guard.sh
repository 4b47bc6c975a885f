#!/bin/sh
cat > /dev/null
. "$CLAUDE_PROJECT_DIR/.claude/hooks/lib/rules.sh"
