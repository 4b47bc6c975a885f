import path from 'node:path';
import { splitFrontMatter } from '../../../base/front-matter.ts';
import type { Unreadable } from '../../../base/located-json.ts';
import { parseLocatedYaml } from '../config/parse-yaml.ts';
import { NO_EVENTS, type ParsedEvents, parseEvents } from '../config/parse-events.ts';
import type { Source } from '../entry.ts';

export interface FrontMatterReading extends ParsedEvents {
  /** The `name` that the front matter gives. */
  readonly name: string | null;
}

const NOTHING: FrontMatterReading = { ...NO_EVENTS, name: null };

/**
 * Reads `hooks` of the front matter of a skill or a sub-agent. Hooks of a sub-agent fire for this
 * type of agent alone, and its Stop is the SubagentStop of whoever started it.
 */
export function readFrontMatterHooks(markdown: string, source: Source): FrontMatterReading {
  const { yaml } = splitFrontMatter(markdown);
  if (yaml === null || !/^hooks\s*:/m.test(yaml)) return NOTHING;
  const root = parseLocatedYaml(yaml, 2);
  if ('why' in root) return unreadable(source, root);
  const named = root.fields?.get('name')?.value;
  const name = typeof named === 'string' ? named : null;
  const hooks = root.fields?.get('hooks');
  if (hooks === undefined || hooks.value === null) return { ...NOTHING, name };
  const owner =
    source.kind === 'agent'
      ? { source, agentType: name ?? path.basename(source.file, '.md') }
      : { source };
  return { ...parseEvents(hooks, owner), name };
}

function unreadable(source: Source, { line, why }: Unreadable): FrontMatterReading {
  return { ...NOTHING, broken: [{ source, line, event: null, why }] };
}
