#!/bin/sh
cat > /dev/null
cat <<'END'
{"contextModification":"something else"}
END
