PROTECTED=(".env" ".git/" "credentials" "secrets")

for pattern in "${PROTECTED[@]}"; do
  if [[ "$FILE_PATH" == *"$pattern"* ]]; then
    echo "Cannot modify protected file" >&2
    exit 2
  fi
done
