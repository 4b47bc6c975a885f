import type { CommandEntry } from '../entry.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Lists warnings about a command; `env` is the environment that it would get. */
export function listCommandNotes(entry: CommandEntry, env: Variables): readonly string[] {
  const { command, args, event } = entry;
  if (args !== null) return listArgumentNotes(command, args);
  const unset = findUnsetInventedVariables(command).filter((name) => env[name] === undefined);
  return [
    ...listShellNotes(entry),
    ...unset.map((name) => `$${name} ${explainUnsetVariable(name, event)}`),
  ];
}

const BASH_ONLY = /(?:^|[\s;&|(])\[\[\s|<<<|\w=\(|\bfunction\s+\w/;

/** Without `shell` a command runs in /bin/sh, as in Claude Code, and /bin/sh is not bash everywhere. */
function listShellNotes({ command, shell }: CommandEntry): readonly string[] {
  const isBash = shell !== null || /\b(?:bash|zsh)\b/.test(command);
  const bashSyntax = isBash ? undefined : BASH_ONLY.exec(removeQuotedText(command))?.[0].trim();
  if (bashSyntax === undefined) return [];
  return [
    `${JSON.stringify(bashSyntax)} needs bash, and /bin/sh may be another shell: add "shell": "bash"`,
  ];
}

/** Quoted text may be a program in another language, so it is not searched for shell syntax. */
function removeQuotedText(command: string): string {
  return command.replaceAll(/'[^']*'|"(?:\\.|[^"\\])*"/gs, '""');
}

function listArgumentNotes(command: string, args: readonly string[]): readonly string[] {
  const [, ...more] = command.trim().split(/\s+/);
  const isSplit = more.length > 0 && !/[/\\]/.test(command);
  const words = more.map((word) => JSON.stringify(word)).join(', ');
  const field = /\$\{(?:tool_|hook_|session_)\w+[^}]*\}/.exec(args.join('\n'))?.[0];
  return [
    ...(isSplit
      ? [`with "args", "command" is one program: put ${words} at the front of "args"`]
      : []),
    ...(field === undefined ? [] : [`${field} is not replaced: a command reads it on stdin`]),
  ];
}

/** Variables that published hooks read and no host sets, each with the payload field that has the value. */
const INVENTED: readonly (readonly [name: RegExp, place: string])[] = [
  [/^(?:CLAUDE_)?(?:TOOL_)?(?:INPUT_)?FILE_PATHS?$/, '.tool_input.file_path'],
  [/^(?:CLAUDE_)?TOOL_INPUT_COMMAND$/, '.tool_input.command'],
  [/^(?:CLAUDE_)?TOOL_(?:INPUT|ARGS|ARGUMENTS|PARAMS)$/, '.tool_input'],
  [/^(?:CLAUDE_)?TOOL_NAME$/, '.tool_name'],
  [/^(?:CLAUDE_)?TOOL_(?:OUTPUT|RESPONSE|RESULT)$/, '.tool_response'],
  [/^CLAUDE_(?:USER_)?PROMPT$/, '.prompt'],
  [/^CLAUDE_NOTIFICATION(?:_MESSAGE)?$/, '.message'],
  [/^CLAUDE_(?:HOOK_)?EVENT(?:_NAME|_TYPE)?$/, '.hook_event_name'],
  [/^CLAUDE_TRANSCRIPT_PATH$/, '.transcript_path'],
  [/^CLAUDE_SESSION_ID$/, '.session_id'],
];

/** Explains that a variable is not set, and which payload field to read instead. */
function explainUnsetVariable(name: string, event: string): string {
  const payloadField = findFieldInstead(name);
  if (payloadField === undefined) return 'is never set';
  const field = event === 'FileChanged' ? payloadField.replace('.tool_input', '') : payloadField;
  return `is never set: read ${field} of the JSON on stdin instead`;
}

function findFieldInstead(name: string): string | undefined {
  return INVENTED.find(([pattern]) => pattern.test(name))?.[1];
}

/** Finds invented variables that the command reads without setting them or giving a default. */
function findUnsetInventedVariables(command: string): readonly string[] {
  const used = [...command.matchAll(/\$(?:(\w+)|\{(\w+)\})/g)].map(([, bare, braced]) =>
    String(bare ?? braced),
  );
  const isSet = (name: string): boolean =>
    new RegExp(`(?<![\\w$])${name}=|\\b(?:read|for)\\b[^;|&]*(?<![\\w{$])${name}\\b`).test(command);
  return [...new Set(used)].filter((name) => findFieldInstead(name) !== undefined && !isSet(name));
}

/** Lists warnings about CLAUDE_* variables that a script of any language reads and no host sets. */
export function checkScript(script: string, eventName: string): readonly string[] {
  return findInventedVariables(script).map(
    (name) => `its script names ${name}, which ${explainUnsetVariable(name, eventName)}`,
  );
}

function findInventedVariables(script: string): readonly string[] {
  const names = script.match(/\bCLAUDE_\w+/g) ?? [];
  return [...new Set(names)].filter((name) => findFieldInstead(name) !== undefined);
}
