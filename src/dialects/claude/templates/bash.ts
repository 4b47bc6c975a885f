import { formatScript, isGuardEvent } from '../../templates.ts';
import { CLAUDE_EXAMPLES, type ClaudeExampleEvent, renderClaudeHeader } from './examples.ts';
import { REASONS } from './example.ts';

export function renderClaudeBashHook(event: ClaudeExampleEvent): string {
  const start = (isGuardEvent(event) ? GUARD_START : START).replace('EVENT', event);
  return [
    '#!/usr/bin/env bash\n',
    renderClaudeHeader(event, '#'),
    '\n',
    start,
    '\n',
    renderBody(event),
  ].join('');
}

// Exit code 1 shows the error to the user and does not block.
const START = formatScript`
if ! command -v jq > /dev/null; then
  echo "EVENT: jq is not installed, so this hook does nothing" >&2
  exit 1
fi

input=$(cat)
`;

const GUARD_START = formatScript`
# A guard that cannot do its work denies: with any exit code but 2 the action would go on.
fail() {
  echo "EVENT: $1, so this guard denies" >&2
  exit 2
}

command -v jq > /dev/null || fail "jq is not installed"

input=$(cat) || fail "the payload cannot be read"
[[ -n $input ]] || fail "there is no payload"
`;

function renderBody(event: ClaudeExampleEvent): string {
  const { action } = CLAUDE_EXAMPLES[event];
  switch (action.kind) {
    case 'log':
      return renderLogLine(event, `(.${action.field} // "")`);
    case 'context':
      return CONTEXT.replace('TEXT', action.text).replace('EVENT', event);
    case 'print':
      return `echo "${action.text}"\n`;
    case 'own':
      return OWN[event] ?? '';
  }
}

const LOG = formatScript`
logs=~/.claude/hook-logs
mkdir -p "$logs"
jq -r 'WHAT as $what
  | "\(now | todate) EVENT \($what[0:200] | tojson)"' <<< "$input" >> "$logs/events.log"
`;

/** Renders code that appends one line to a log; `what` is a jq expression for its text. */
function renderLogLine(event: ClaudeExampleEvent, what: string): string {
  return LOG.replace('WHAT', what).replace('EVENT', event);
}

const CONTEXT = formatScript`
jq -n --arg text "TEXT" '
  {hookSpecificOutput: {hookEventName: "EVENT", additionalContext: $text}}'
`;

const OWN: Readonly<Partial<Record<ClaudeExampleEvent, string>>> = {
  PreToolUse: formatScript`
wanted=$(jq -r '.tool_input.command // ""' <<< "$input") || fail "the payload cannot be parsed"

# An example, not a complete guard: rm with options, aimed at /, ~ or $HOME itself.
dangerous='(^|[^[:alnum:]_])rm([[:space:]]+-[^[:space:]]+)+[[:space:]]+"?(/|~|[$]HOME)/?[*]?([[:space:];&|)"]|$)'

if [[ $wanted =~ $dangerous ]]; then
  jq -n --arg why "REASON" '
    {hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: $why
    }}' || fail "jq failed"
fi
`.replace('REASON', REASONS.deletes),
  PermissionRequest: formatScript`
jq '
  . as $in
  | (.tool_input.file_path // "") as $file
  | select($in.tool_name == "Read" and ($file | startswith($in.cwd + "/")))
  | select($file | contains("/../") | not)
  | {hookSpecificOutput: {hookEventName: "PermissionRequest", decision: {behavior: "allow"}}}
' <<< "$input" || fail "the payload cannot be parsed"
`,
  PostToolUse: formatScript`
jq '
  select((.duration_ms // 0) > 5000)
  | "\(.tool_name) took \(.duration_ms / 1000 | round) s. Prefer something narrower next time." as $text
  | {hookSpecificOutput: {hookEventName: "PostToolUse", additionalContext: $text}}
' <<< "$input"
`,
  PostToolBatch: renderLogLine('PostToolBatch', '([.tool_calls[]?.tool_name] | join(", "))'),
  UserPromptSubmit: formatScript`
refuse() {
  jq -n --arg why "$1" '{decision: "block", reason: $why}' || fail "jq failed"
  exit 0
}

prompt=$(jq -r '.prompt // ""' <<< "$input") || fail "the payload cannot be parsed"

if [[ $prompt != *[![:space:]]* ]]; then
  refuse "EMPTY"
fi
if [[ $prompt == *"-----BEGIN "*"PRIVATE KEY-----"* ]]; then
  refuse "KEY"
fi
`
    .replace('EMPTY', REASONS.empty)
    .replace('KEY"', `${REASONS.key}"`),
  SessionStart: formatScript`
cwd=$(jq -r '.cwd // "."' <<< "$input")
branch=$(sed -n 's|^ref: refs/heads/||p' "$cwd/.git/HEAD" 2> /dev/null)

echo "Today is $(LC_ALL=C date '+%a %b %d %Y')."
if [[ -n $branch ]]; then
  echo "The git branch is $branch."
fi
`,
  Stop: formatScript`
jq '
  select((.stop_hook_active | not) and (.last_assistant_message // "" | test("\\bTODO\\b")))
  | {decision: "block", reason: "REASON"}
' <<< "$input"
`.replace('REASON', REASONS.unfinished),
  WorktreeCreate: formatScript`
cwd=$(jq -r '.cwd' <<< "$input") || exit 1
name=$(jq -r '.name | gsub("[^A-Za-z0-9._-]"; "-")' <<< "$input") || exit 1
place=$cwd/.claude/worktrees/$name

git -C "$cwd" worktree add --detach "$place" >&2 || exit 1
echo "$place"
`,
};
