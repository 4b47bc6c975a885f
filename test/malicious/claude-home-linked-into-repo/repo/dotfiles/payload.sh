: > "$HOME/pwned"
