import { renderClineHeader, type ExampleEvent } from './examples.ts';
import { formatScript, isGuardEvent } from '../../templates.ts';

export function renderPythonHook(event: ExampleEvent): string {
  const { imports, body } = PARTS[event];
  const isGuard = isGuardEvent(event);
  const modules = ['json', ...(isGuard ? [] : ['sys']), ...imports].toSorted(comparePlainFirst);
  return [
    '#!/usr/bin/env python3\n',
    renderClineHeader(event, '#'),
    '\n',
    isGuard ? GUARD_START.replaceAll('EVENT', event) : '',
    modules.map((name) => `${NAMED_IMPORTS[name] ?? `import ${name}`}\n`).join(''),
    '\n',
    'payload = json.load(sys.stdin.buffer)\n',
    body,
    '\n',
    'print(json.dumps(answer))\n',
  ].join('');
}

const GUARD_START = formatScript`
import os
import sys


def refuse(kind, error, trace):
    print(f"EVENT: {kind.__name__}: {error}", file=sys.stderr)
    why = f"EVENT: this guard failed with {kind.__name__}, so it refuses."
    print(f'{{"cancel": true, "errorMessage": "{why}"}}', flush=True)
    os._exit(0)


# Before everything else is imported: without an answer the action would go on.
sys.excepthook = refuse

`.concat('\n');

/** Modules of which only some names are imported. */
const NAMED_IMPORTS: Readonly<Record<string, string>> = {
  date: 'from datetime import date',
  datetime: 'from datetime import datetime, timezone',
  pathlib: 'from pathlib import Path',
};

function comparePlainFirst(one: string, other: string): number {
  const isNamed = (name: string): number => (Object.hasOwn(NAMED_IMPORTS, name) ? 1 : 0);
  return isNamed(one) - isNamed(other) || (one < other ? -1 : 1);
}

const LOG = formatScript`
what = WHAT

answer = {"cancel": False}
try:
    logs = Path.home() / ".cline" / "hook-logs"
    logs.mkdir(parents=True, exist_ok=True)
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    with open(logs / "events.log", "a", encoding="utf-8", errors="replace") as log:
        log.write(f"{now} EVENT {json.dumps(what[:200], ensure_ascii=False)}\n")
except OSError as error:
    print(f"EVENT: nothing was logged: {error}", file=sys.stderr)
`;

/** Renders code that appends one line to a log; `what` is a Python expression for its text. */
function renderLogLine(event: ExampleEvent, what: string) {
  const body = LOG.replace('WHAT', what).replaceAll('EVENT', event);
  return { imports: ['datetime', 'pathlib'], body };
}

/** The body reads `payload` and sets `answer`. */
const PARTS: Readonly<Record<ExampleEvent, { imports: readonly string[]; body: string }>> = {
  TaskStart: {
    imports: ['date', 'pathlib'],
    body: formatScript`
roots = payload.get("workspaceRoots") or ["."]
git = Path(roots[0]) / ".git"

note = f"Today is {date.today().strftime('%a %b %d %Y')}."
try:
    head = (git / "HEAD").read_text().strip()
except OSError:
    head = ""
if head.startswith("ref: refs/heads/"):
    note += f" The git branch is {head[len('ref: refs/heads/'):]}."

answer = {"cancel": False, "contextModification": note}
`,
  },
  TaskResume: {
    imports: ['time'],
    body: formatScript`
last = payload.get("taskResume", {}).get("previousState", {}).get("lastMessageTs") or "0"
days = int((time.time() - int(last) / 1000) // 86400)

answer = {"cancel": False}
if int(last) > 0 and days >= 1:
    answer["contextModification"] = (
        f"This task has been idle for {days} day(s): check what has changed since."
    )
`,
  },
  TaskCancel: renderLogLine(
    'TaskCancel',
    'payload.get("taskCancel", {}).get("taskMetadata", {}).get("completionStatus", "")',
  ),
  TaskComplete: renderLogLine(
    'TaskComplete',
    'payload.get("taskComplete", {}).get("taskMetadata", {}).get("result", "")',
  ),
  TaskError: renderLogLine('TaskError', '(payload.get("error") or {}).get("message", "")'),
  PreToolUse: {
    imports: ['re'],
    body: formatScript`
parameters = payload["preToolUse"].get("parameters", {})
command = parameters.get("command") or parameters.get("commands") or ""

# An example, not a complete guard: rm with options, aimed at /, ~ or $HOME itself.
DANGEROUS = r'\brm(\s+-\S+)+\s+"?(/|~|\$HOME)/?\*?([\s;&|)"]|$)'

answer = {"cancel": False}
if re.search(DANGEROUS, command):
    answer = {
        "cancel": True,
        "errorMessage": "This command would delete far too much. Name the directory that is meant.",
    }
`,
  },
  PostToolUse: {
    imports: [],
    body: formatScript`
tool = payload["postToolUse"].get("toolName")
ms = payload["postToolUse"].get("executionTimeMs", 0)

answer = {"cancel": False}
if ms > 5000:
    answer["contextModification"] = (
        f"{tool} took {round(ms / 1000)} s. Prefer something narrower next time."
    )
`,
  },
  UserPromptSubmit: {
    imports: ['re'],
    body: formatScript`
prompt = payload["userPromptSubmit"].get("prompt", "")

answer = {"cancel": False}
if not prompt.strip():
    answer = {"cancel": True, "errorMessage": "The prompt is empty."}
elif re.search(r"-----BEGIN [A-Z ]*PRIVATE KEY-----", prompt):
    answer = {
        "cancel": True,
        "errorMessage": "The prompt contains a private key. Remove it, and treat the key as leaked.",
    }
`,
  },
  Notification: renderLogLine('Notification', 'payload.get("notification", {}).get("message", "")'),
  PreCompact: {
    imports: [],
    body: formatScript`
size = payload.get("preCompact", {}).get("contextSize", 0)

answer = {
    "cancel": False,
    "contextModification": (
        f"Keep from these {size} messages: the open questions, and every file that was changed."
    ),
}
`,
  },
  SessionShutdown: renderLogLine('SessionShutdown', '(payload.get("reason") or "")'),
};
