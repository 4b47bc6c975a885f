#!/bin/sh
# Runs before any tool: read_file, write_to_file, execute_command and so on.
case "$(cat)" in
*'"toolName":"run_commands"'*) echo '{"cancel":true,"errorMessage":"no commands here"}' ;;
*) echo '{"cancel":false}' ;;
esac
