#!/bin/sh
# Exit code 2 refuses the call; the model reads what stands on stderr.
payload=$(cat)
case $payload in
  *'rm -rf'*) echo 'rm -rf is not for agents' >&2; exit 2 ;;
esac
