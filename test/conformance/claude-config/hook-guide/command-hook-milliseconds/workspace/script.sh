jq -r .user_prompt
