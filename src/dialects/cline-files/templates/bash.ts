import { renderClineHeader, type ExampleEvent } from './examples.ts';
import { formatScript, isGuardEvent } from '../../templates.ts';

export function renderBashHook(event: ExampleEvent): string {
  return [
    '#!/usr/bin/env bash\n',
    renderClineHeader(event, '#'),
    '\n',
    renderStart(event),
    '\n',
    BODIES[event],
  ].join('');
}

function renderStart(event: ExampleEvent): string {
  return (isGuardEvent(event) ? GUARD_START : START).replace('EVENT', event);
}

const GUARD_START = formatScript`
# A guard that cannot do its work refuses: without an answer the action would go on.
fail() {
  echo "{\"cancel\": true, \"errorMessage\": \"EVENT: $1, so this guard refuses.\"}"
  exit 0
}

command -v jq > /dev/null || fail "jq is not installed"

input=$(cat) || fail "the payload cannot be read"
[[ -n $input ]] || fail "there is no payload"
`;

const START = formatScript`
if ! command -v jq > /dev/null; then
  echo "EVENT: jq is not installed, so this hook does nothing" >&2
  echo '{"cancel": false}'
  exit 0
fi

input=$(cat)
`;

const LOG = formatScript`
logs=~/.cline/hook-logs
mkdir -p "$logs"
jq -r 'WHAT as $what
  | "\(now | todate) EVENT \($what[0:200] | tojson)"' <<< "$input" >> "$logs/events.log"

echo '{"cancel": false}'
`;

/** Renders code that appends one line to a log; `what` is a jq expression for its text. */
function renderLogLine(event: ExampleEvent, what: string): string {
  return LOG.replace('WHAT', what).replace('EVENT', event);
}

const BODIES: Readonly<Record<ExampleEvent, string>> = {
  TaskStart: formatScript`
root=$(jq -r '.workspaceRoots[0] // "."' <<< "$input")
git=$root/.git
branch=$(sed -n 's|^ref: refs/heads/||p' "$git/HEAD" 2> /dev/null)

note="Today is $(LC_ALL=C date '+%a %b %d %Y')."
if [[ -n $branch ]]; then
  note="$note The git branch is $branch."
fi

jq -n --arg note "$note" '{cancel: false, contextModification: $note}'
`,
  TaskResume: formatScript`
jq '
  (.taskResume.previousState.lastMessageTs | tonumber? // 0) as $last
  | ((now - $last / 1000) / 86400 | floor) as $days
  | if $last > 0 and $days >= 1 then
      {
        cancel: false,
        contextModification: "This task has been idle for \($days) day(s): check what has changed since."
      }
    else
      {cancel: false}
    end
' <<< "$input"
`,
  TaskCancel: renderLogLine('TaskCancel', '(.taskCancel.taskMetadata.completionStatus // "")'),
  TaskComplete: renderLogLine('TaskComplete', '(.taskComplete.taskMetadata.result // "")'),
  TaskError: renderLogLine('TaskError', '(.error.message // "")'),
  PreToolUse: formatScript`
wanted=$(jq -r '.preToolUse.parameters | .command // .commands // ""' <<< "$input") ||
  fail "the payload cannot be parsed"

# An example, not a complete guard: rm with options, aimed at /, ~ or $HOME itself.
dangerous='(^|[^[:alnum:]_])rm([[:space:]]+-[^[:space:]]+)+[[:space:]]+"?(/|~|[$]HOME)/?[*]?([[:space:];&|)"]|$)'

if [[ $wanted =~ $dangerous ]]; then
  echo '{"cancel": true, "errorMessage": "This command would delete far too much. Name the directory that is meant."}'
else
  echo '{"cancel": false}'
fi
`,
  PostToolUse: formatScript`
jq '
  .postToolUse.toolName as $tool
  | (.postToolUse.executionTimeMs // 0) as $ms
  | if $ms > 5000 then
      {
        cancel: false,
        contextModification: "\($tool) took \($ms / 1000 | round) s. Prefer something narrower next time."
      }
    else
      {cancel: false}
    end
' <<< "$input"
`,
  UserPromptSubmit: formatScript`
refuse() {
  jq -n --arg why "$1" '{cancel: true, errorMessage: $why}' || fail "jq failed"
  exit 0
}

prompt=$(jq -r '.userPromptSubmit.prompt // ""' <<< "$input") ||
  fail "the payload cannot be parsed"

if [[ $prompt != *[![:space:]]* ]]; then
  refuse "The prompt is empty."
fi
if [[ $prompt == *"-----BEGIN "*"PRIVATE KEY-----"* ]]; then
  refuse "The prompt contains a private key. Remove it, and treat the key as leaked."
fi

echo '{"cancel": false}'
`,
  Notification: renderLogLine('Notification', '(.notification.message // "")'),
  PreCompact: formatScript`
jq '
  (.preCompact.contextSize // 0) as $size
  | {
      cancel: false,
      contextModification: "Keep from these \($size) messages: the open questions, and every file that was changed."
    }
' <<< "$input"
`,
  SessionShutdown: renderLogLine('SessionShutdown', '(.reason // "")'),
};
