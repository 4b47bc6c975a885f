#!/bin/sh
cat > /dev/null
cat <<'END'
{"contextModification":"three"}
END
