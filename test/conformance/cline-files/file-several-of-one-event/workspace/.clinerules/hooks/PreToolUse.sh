#!/bin/sh
cat > /dev/null
cat <<'END'
{"contextModification":"sh"}
END
