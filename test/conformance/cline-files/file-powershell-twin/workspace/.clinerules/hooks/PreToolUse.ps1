exit 1
