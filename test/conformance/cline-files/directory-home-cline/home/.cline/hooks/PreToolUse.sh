#!/bin/sh
cat > /dev/null
cat <<'END'
{"contextModification":"home"}
END
