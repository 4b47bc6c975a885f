#!/bin/sh
cat > /dev/null
cat <<'END'
{"contextModification":"in time"}
END
