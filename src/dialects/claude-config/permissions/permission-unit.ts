import { type LooseningPart, findLooseningPart } from '../../../permissions/settings.ts';
import type { FoundHook } from '../../dialect.ts';
import { canonicalText } from '../config/entry-text.ts';
import type { SourcePermissions } from './parse-permissions.ts';

/**
 * What a workspace's settings allow, as something to be trusted: found, listed and bound as its hooks
 * are, and never run. Nothing when they allow nothing.
 */
export function permissionUnit(
  { source, said }: SourcePermissions,
  name: Pick<FoundHook, 'id' | 'ownId'>,
): readonly FoundHook[] {
  const part = said.origin === 'workspace' ? findLooseningPart(said) : null;
  if (part === null) return [];
  const kind = source.isCline ? `${source.kind} .cline` : source.kind;
  const text = canonicalText({ source: kind, permissions: part });
  return [
    {
      ...name,
      dialect: 'claude',
      eventName: 'permissions',
      events: [],
      matcher: null,
      path: said.file,
      line: said.line,
      place: source.place,
      root: source.root,
      binds: { entry: said.file, text, files: [], directories: [] },
      permissions: said,
      timeoutMs: 0,
      onFailure: 'open',
      notes: [],
      problem: said.whyNothingAllowed,
      details: { type: 'permissions', source: source.label, runs: describePart(part) },
      toHandlers: () => [],
    },
  ];
}

/** `allow Bash(npm test), Read; directory ../lib; mode acceptEdits` */
function describePart({
  allow = [],
  additionalDirectories = [],
  defaultMode,
}: LooseningPart): string {
  return [
    ...(allow.length === 0 ? [] : [`allow ${allow.join(', ')}`]),
    ...additionalDirectories.map((directory) => `directory ${directory}`),
    ...(defaultMode === undefined ? [] : [`mode ${defaultMode}`]),
  ].join('; ');
}
