#!/bin/sh
cat > /dev/null
cat <<'END'
{"contextModification":"still here"}
END
