#!/bin/sh
cat > seen.json
