import { isRecord, getTypeName } from '../../../base/json.ts';
import type { ClaudeEvent } from '../events.ts';
import { canBlock } from './rulings.ts';

type Fields = Readonly<Record<string, unknown>>;

const KEYS = [
  'approve',
  'message',
  'modifiedInput',
  'modifiedOutput',
  'additionalContext',
] as const;

/**
 * Translates the answer of a hook in Cline's own files that was written for a Cline which asks hooks for
 * their approval: `{approve, message, modifiedInput, modifiedOutput, additionalContext}`. A string says
 * what is wrong with it; an answer without these keys is returned as it is.
 */
export function translateApproval(event: ClaudeEvent, answer: Fields): Fields | string {
  if (!KEYS.some((key) => Object.hasOwn(answer, key))) return answer;
  const { approve, message, modifiedInput, modifiedOutput, additionalContext, ...rest } = answer;
  const problem = findProblem(answer);
  if (problem !== null) return problem;
  const reason = typeof message === 'string' ? message : undefined;
  const isRefused = approve === false;
  const ownSpecific = isRecord(rest['hookSpecificOutput']) ? rest['hookSpecificOutput'] : {};
  // A refusal comes last, so that it holds beside an answer in Claude's own words that allows.
  const specific = omitUndefined({
    hookEventName: event,
    updatedInput: modifiedInput ?? undefined,
    updatedToolOutput: modifiedOutput ?? undefined,
    additionalContext: joinContexts(additionalContext),
    ...ownSpecific,
    ...(isRefused ? refuseSpecifically(event, reason) : {}),
  });
  return omitUndefined({
    systemMessage: isRefused ? undefined : reason,
    ...rest,
    ...(isRefused && canBlock(event) && !IS_SPECIFIC.has(event)
      ? { decision: 'block', reason }
      : {}),
    hookSpecificOutput: Object.keys(specific).length > 1 ? specific : undefined,
  });
}

/** Events at which a refusal is not a top-level `decision`. */
const IS_SPECIFIC: ReadonlySet<ClaudeEvent> = new Set(['PreToolUse', 'PermissionRequest']);

// `approve: true` is no permission: hooks that only watch answer so to every call.
function refuseSpecifically(event: ClaudeEvent, reason: string | undefined): Fields {
  if (event === 'PreToolUse') {
    return { permissionDecision: 'deny', permissionDecisionReason: reason };
  }
  if (event !== 'PermissionRequest') return {};
  return { decision: omitUndefined({ behavior: 'deny', message: reason }) };
}

function joinContexts(contexts: unknown): string | undefined {
  if (!Array.isArray(contexts)) return typeof contexts === 'string' ? contexts : undefined;
  return contexts.length === 0 ? undefined : contexts.join('\n\n');
}

const isText = (value: unknown): boolean => typeof value === 'string';

const EXPECTED: Readonly<Record<string, readonly [string, (value: unknown) => boolean]>> = {
  approve: ['true or false', (value) => typeof value === 'boolean'],
  message: ['text', isText],
  modifiedInput: ['an object', isRecord],
  additionalContext: [
    'a list of texts',
    (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
  ],
};

function findProblem(answer: Fields): string | null {
  for (const [key, [words, fits]] of Object.entries(EXPECTED)) {
    const value = answer[key];
    if (value !== undefined && value !== null && !fits(value)) {
      return `expected "${key}" to be ${words}, found ${getTypeName(value)}`;
    }
  }
  return null;
}

function omitUndefined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
