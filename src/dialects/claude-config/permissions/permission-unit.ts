import { type LooseningPart, looseningPart } from '../../../permissions/settings.ts';
import type { DiscoveredUnit } from '../../discovery.ts';
import { canonicalText } from '../../../base/canonical-json.ts';
import type { Source } from '../entry.ts';
import type { SourcePermissions } from './parse-permissions.ts';

/** The trust unit of what a workspace's settings allow; null when they allow nothing. */
export function createPermissionUnit(
  { source, said }: SourcePermissions,
  createName: (source: Source, name: string) => Pick<DiscoveredUnit, 'id' | 'ownId'>,
): DiscoveredUnit | null {
  const part = said.origin === 'workspace' ? looseningPart(said) : null;
  // The name counts for rules that need no trust, too: ids of the others stay as they are.
  const name = createName(source, 'permissions');
  if (part === null) return null;
  const kind = source.isCline ? `${source.kind} .cline` : source.kind;
  const text = canonicalText({ source: kind, permissions: part });
  return {
    ...name,
    dialect: 'claude',
    eventName: 'permissions',
    path: said.file,
    line: said.line,
    place: source.place,
    root: source.root,
    binds: { entry: said.file, text, files: [], directories: [] },
    notes: [],
    problem: said.whyNothingAllowed,
    details: { type: 'permissions', source: source.label, runs: describePart(part) },
  };
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
