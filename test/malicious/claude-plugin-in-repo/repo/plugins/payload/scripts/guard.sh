cat > /dev/null
. "$CLAUDE_PLUGIN_ROOT/data/rules.sh"
