import { fieldsAt, namedCases, observed } from '../claude-config/recording.ts';
import type { Act } from '../claude-config/scripts.ts';

/**
 * `sh rec.sh NAME [--out TEXT] [--err TEXT] [--exit CODE]`: records its payload, and answers. It is a
 * shell script, because Node takes twenty times as long to start.
 */
export const RECORDER = String.raw`name=$1
shift
out= err= code=0
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2 ;;
    --err) err=$2 ;;
    --exit) code=$2 ;;
  esac
  shift 2
done
payload=$(cat)
plugin=
[ -z "$CLAUDE_PLUGIN_ROOT" ] || plugin=",\"pluginRoot\":\"$CLAUDE_PLUGIN_ROOT\""
printf '{"name":"%s","payload":%s%s}\n' "$name" "$payload" "$plugin" >> "$CLAUDE_PROJECT_DIR/told.log"
printf '%s' "$out"
printf '%s' "$err" >&2
exit "$code"
`;

/** The same in Node, `node rec.mjs NAME …`, for commands that the recording quotes. */
export const NODE_RECORDER = `import { appendFileSync, readFileSync, writeSync } from 'node:fs';
const payload = JSON.parse(readFileSync(0, 'utf8'));
const [name, ...options] = process.argv.slice(2);
const given = (flag) => (options.includes(flag) ? options[options.indexOf(flag) + 1] : '');
const line = JSON.stringify({ name, payload });
appendFileSync(\`\${process.env.CLAUDE_PROJECT_DIR}/told.log\`, \`\${line}\\n\`);
writeSync(1, given('--out'));
writeSync(2, given('--err'));
process.exitCode = Number(given('--exit'));
`;

/** A recorder wherever the session's directory is. */
export function createRecorderCommand(name: string): string {
  return `sh "$CLAUDE_PROJECT_DIR/rec.sh" ${name}`;
}

/** \`node case.mjs KEY\` does what acts.json defines for the case that its input names. */
const CASE_SCRIPT = `import { readFileSync, writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
const input = readFileSync(0, 'utf8');
const acts = JSON.parse(readFileSync('acts.json', 'utf8'));
const [, name] = /CASE_(\\w+)/.exec(input) ?? [];
const { out = '', err = '', exit = 0, sleep = 0 } = acts[name]?.[process.argv[2]] ?? {};
await setTimeout(sleep);
writeSync(1, typeof out === 'string' ? out : JSON.stringify(out));
writeSync(2, err);
process.exitCode = exit;
`;

export type CaseActs = Readonly<Record<string, Readonly<Record<string, Act>>>>;

/** Files of a workspace whose hooks are `node case.mjs KEY`. */
export function caseFiles(acts: CaseActs): Record<string, string | object> {
  return { 'case.mjs': CASE_SCRIPT, 'acts.json': acts };
}

/** What the hooks of a group did; the keys name them in the recording, and their KEY here. */
export function recordedActs(group: string, keys: Readonly<Record<string, string>>): CaseActs {
  const acts = namedCases(group).map((name): [string, Readonly<Record<string, Act>>] => {
    const recorded = fieldsAt(observed(group), name);
    const own = Object.entries(keys).map(([key, argument]) => [argument, recorded[key]]);
    return [name, Object.fromEntries(own)];
  });
  return Object.fromEntries(acts);
}
