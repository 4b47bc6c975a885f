import { formatScript, isGuardEvent } from '../../templates.ts';
import { CLAUDE_EXAMPLES, type ClaudeExampleEvent, renderClaudeHeader } from './examples.ts';
import { REASONS } from './example.ts';

export function renderClaudePythonHook(event: ClaudeExampleEvent): string {
  const { imports, body } = renderParts(event);
  const isGuard = isGuardEvent(event);
  return [
    '#!/usr/bin/env python3\n',
    renderClaudeHeader(event, '#'),
    '\n',
    isGuard ? GUARD_START.replaceAll('EVENT', event) : '',
    renderImports(['json', ...(isGuard ? [] : ['sys']), ...imports]),
    '\n',
    'payload = json.load(sys.stdin.buffer)\n',
    body,
  ].join('');
}

const GUARD_START = formatScript`
import os
import sys


def deny(kind, error, trace):
    why = f"EVENT: this guard failed, so it denies: {kind.__name__}: {error}"
    print(why, file=sys.stderr, flush=True)
    os._exit(2)


# Before everything else is imported: with any exit code but 2 the action would go on.
sys.excepthook = deny

`.concat('\n');

function renderImports(imports: readonly string[]): string {
  const plain = imports.filter((each) => !each.includes(' ')).toSorted();
  const fromImports = imports.filter((each) => each.includes(' ')).toSorted();
  return [...plain.map((name) => `import ${name}`), ...fromImports]
    .map((line) => `${line}\n`)
    .join('');
}

const DATE = 'from datetime import date';
const PATH = 'from pathlib import Path';

function renderParts(event: ClaudeExampleEvent) {
  const { action } = CLAUDE_EXAMPLES[event];
  switch (action.kind) {
    case 'log':
      return renderLogLine(event, `payload.get("${action.field}") or ""`);
    case 'context':
      return {
        imports: [],
        body: CONTEXT.replace('TEXT', action.text).replace('EVENT', event),
      };
    case 'print':
      return { imports: [], body: `print("${action.text}")\n` };
    case 'own':
      return OWN[event] ?? { imports: [], body: '' };
  }
}

const LOG = formatScript`
what = WHAT

try:
    logs = Path.home() / ".claude" / "hook-logs"
    logs.mkdir(parents=True, exist_ok=True)
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    with open(logs / "events.log", "a", encoding="utf-8", errors="replace") as log:
        log.write(f"{now} EVENT {json.dumps(what[:200], ensure_ascii=False)}\n")
except OSError as error:
    sys.exit(f"EVENT: nothing was logged: {error}")
`;

/** Renders code that appends one line to a log; `what` is a Python expression for its text. */
function renderLogLine(event: ClaudeExampleEvent, what: string) {
  const imports = ['from datetime import datetime, timezone', PATH];
  return { imports, body: LOG.replace('WHAT', what).replaceAll('EVENT', event) };
}

const CONTEXT = formatScript`
text = "TEXT"
print(json.dumps({"hookSpecificOutput": {"hookEventName": "EVENT", "additionalContext": text}}))
`;

/** Imports are modules, or whole import statements; the body reads `payload` and prints the answer. */
const OWN: Readonly<
  Partial<Record<ClaudeExampleEvent, { imports: readonly string[]; body: string }>>
> = {
  PreToolUse: {
    imports: ['re'],
    body: formatScript`
command = payload.get("tool_input", {}).get("command") or ""

# An example, not a complete guard: rm with options, aimed at /, ~ or $HOME itself.
DANGEROUS = r'\brm(\s+-\S+)+\s+"?(/|~|\$HOME)/?\*?([\s;&|)"]|$)'

if re.search(DANGEROUS, command):
    decision = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "REASON",
    }
    print(json.dumps({"hookSpecificOutput": decision}))
`.replace('REASON', REASONS.deletes),
  },
  PermissionRequest: {
    imports: [],
    body: formatScript`
file = payload.get("tool_input", {}).get("file_path") or ""
is_inside = file.startswith(payload["cwd"] + "/") and "/../" not in file

if payload.get("tool_name") == "Read" and is_inside:
    decision = {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    print(json.dumps({"hookSpecificOutput": decision}))
`,
  },
  PostToolUse: {
    imports: [],
    body: formatScript`
tool = payload.get("tool_name")
ms = payload.get("duration_ms") or 0

if ms > 5000:
    text = f"{tool} took {round(ms / 1000)} s. Prefer something narrower next time."
    context = {"hookEventName": "PostToolUse", "additionalContext": text}
    print(json.dumps({"hookSpecificOutput": context}))
`,
  },
  PostToolBatch: renderLogLine(
    'PostToolBatch',
    '", ".join(call.get("tool_name", "") for call in payload.get("tool_calls") or [])',
  ),
  UserPromptSubmit: {
    imports: ['re'],
    body: formatScript`
prompt = payload.get("prompt") or ""

if not prompt.strip():
    print(json.dumps({"decision": "block", "reason": "EMPTY"}))
elif re.search(r"-----BEGIN [A-Z ]*PRIVATE KEY-----", prompt):
    why = "REASON"
    print(json.dumps({"decision": "block", "reason": why}))
`
      .replace('EMPTY', REASONS.empty)
      .replace('REASON', REASONS.key),
  },
  SessionStart: {
    imports: [DATE, PATH],
    body: formatScript`
try:
    head = (Path(payload.get("cwd") or ".") / ".git" / "HEAD").read_text().strip()
except OSError:
    head = ""

print(f"Today is {date.today().strftime('%a %b %d %Y')}.")
if head.startswith("ref: refs/heads/"):
    print(f"The git branch is {head[len('ref: refs/heads/'):]}.")
`,
  },
  Stop: {
    imports: ['re'],
    body: formatScript`
last = payload.get("last_assistant_message") or ""

if not payload.get("stop_hook_active") and re.search(r"\bTODO\b", last):
    why = "REASON"
    print(json.dumps({"decision": "block", "reason": why}))
`.replace('REASON', REASONS.unfinished),
  },
  WorktreeCreate: {
    imports: ['re', 'subprocess', PATH],
    body: formatScript`
cwd = payload["cwd"]
name = re.sub(r"[^A-Za-z0-9._-]", "-", payload["name"])
place = Path(cwd) / ".claude" / "worktrees" / name

added = subprocess.run(
    ["git", "-C", cwd, "worktree", "add", "--detach", str(place)], stdout=sys.stderr
)
if added.returncode != 0:
    sys.exit(1)
print(place)
`,
  },
};
