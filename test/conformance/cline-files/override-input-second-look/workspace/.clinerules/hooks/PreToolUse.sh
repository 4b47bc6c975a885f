#!/bin/sh
cat > /dev/null
cat <<'END'
{"overrideInput":{"path":"src/a.js","content":"x"}}
END
