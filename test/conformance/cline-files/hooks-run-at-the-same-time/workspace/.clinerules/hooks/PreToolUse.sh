#!/bin/sh
cat > /dev/null
touch two
while [ ! -e one ]; do sleep 0.05; done
echo '{"contextModification": "two met one"}'
