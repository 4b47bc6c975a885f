#!/bin/sh
cat > /dev/null
cat <<'END'
{"contextModification":"spaced"}
END
