#!/bin/bash
echo "formatted" >> "$CLAUDE_PROJECT_DIR/formatted.log"
