#!/bin/sh
cat > /dev/null
sleep 2
echo '{"contextModification": "waited"}'
