#!/bin/bash
: > "$CLAUDE_PROJECT_DIR/two.started"
until [[ -e "$CLAUDE_PROJECT_DIR/one.started" ]]; do sleep 0.01; done
