FILE_PATH=$(jq -r '.tool_input.file_path // empty')

# Prevent path traversal
if [[ "$FILE_PATH" == *".."* ]]; then
  echo "Invalid file path" >&2
  exit 2
fi
