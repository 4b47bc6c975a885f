import json, sys

payload = json.load(sys.stdin)
print(json.dumps({"cancel": True, "errorMessage": payload["preToolUse"]["toolName"]}))
