import type { z } from 'zod';
import { claude, FILE_HOOK_NAMES, type FileHookName } from '../../src/dialects/index.ts';
import { CASE } from './case.ts';
import { CLAUDE_OUTPUT } from './claude-output.ts';
import { claudePayloadSchema } from './claude-payload.ts';
import { CLINE_OUTPUT } from './cline-output.ts';
import { payloadSchema } from './cline-payload.ts';
import { CONFIG } from './config.ts';
import { HOOKS_JSON } from './hooks-json.ts';
import { LOCK } from './lock.ts';
import { TRACE_ENTRY } from './trace-entry.ts';
import { FIRED } from './verdict.ts';

export interface SchemaRow {
  /** Name of the file below `schema/`. */
  readonly file: string;
  readonly title: string;
  readonly about: string;
  readonly schema: z.ZodType;
  /** Whether a later version may add fields, so that readers must ignore those they do not know. */
  readonly grows: boolean;
}

/** Every document that Hookline shares with others. */
export const SCHEMAS: readonly SchemaRow[] = [
  ...FILE_HOOK_NAMES.map(payloadRow),
  ...claude.events.names.map(claudePayloadRow),
  {
    file: 'claude-output.schema.json',
    title: 'Output of a Claude hook',
    about: 'What Hookline reads on the stdout of a Claude hook. A hook may leave out every field.',
    schema: CLAUDE_OUTPUT,
    grows: true,
  },
  {
    file: 'hooks-json.schema.json',
    title: 'Hooks in Claude’s format',
    about: 'The .cline/hooks.json, and the key `hooks` of .claude/settings.json.',
    schema: HOOKS_JSON,
    grows: true,
  },
  {
    file: 'cline-output.schema.json',
    title: 'Output of a Cline hook',
    about: 'What Hookline reads on the stdout of a Cline hook. A hook may leave out every field.',
    schema: CLINE_OUTPUT,
    grows: true,
  },
  {
    file: 'verdict.schema.json',
    title: 'Verdict',
    about: 'What `hookline hooks fire --json` prints: the answers of all hooks merged.',
    schema: FIRED,
    grows: true,
  },
  {
    file: 'trace-entry.schema.json',
    title: 'Trace entry',
    about: 'One line of a trace file: one dispatch with its outcomes and verdict.',
    schema: TRACE_ENTRY,
    grows: true,
  },
  {
    file: 'case.schema.json',
    title: 'Case',
    about: 'The case.json of a case directory, which `hookline hooks test` runs.',
    schema: CASE,
    grows: false,
  },
  {
    file: 'config.schema.json',
    title: 'Configuration',
    about: 'The config.json in the state directory or in the .hookline directory of a workspace.',
    schema: CONFIG,
    grows: false,
  },
  {
    file: 'lock.schema.json',
    title: 'Lock',
    about: 'What `hookline lock` writes: hooks with their exact bytes.',
    schema: LOCK,
    grows: false,
  },
];

export function payloadFile(name: FileHookName): string {
  return `cline-${toWords(name)}.schema.json`;
}

export function toClaudePayloadFile(name: string): string {
  return `claude-${toWords(name)}.schema.json`;
}

function toWords(name: string): string {
  return name.replaceAll(/(?<!^)[A-Z]/g, (capital) => `-${capital}`).toLowerCase();
}

function claudePayloadRow(name: string): SchemaRow {
  return {
    file: toClaudePayloadFile(name),
    title: `Payload of a Claude ${name} hook`,
    about: `What Hookline writes on the stdin of a Claude ${name} hook.`,
    schema: claudePayloadSchema(name),
    grows: true,
  };
}

function payloadRow(name: FileHookName): SchemaRow {
  return {
    file: payloadFile(name),
    title: `Payload of a Cline ${name} hook`,
    about: `What Hookline writes on the stdin of a Cline ${name} hook.`,
    schema: payloadSchema(name),
    grows: true,
  };
}
