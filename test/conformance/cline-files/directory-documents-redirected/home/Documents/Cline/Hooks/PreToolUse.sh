#!/bin/sh
cat > /dev/null
cat <<'END'
{"contextModification":"usual"}
END
