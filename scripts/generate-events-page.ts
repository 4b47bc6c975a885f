import type { Dialect } from '../src/dialects/dialect.ts';
import { DIALECTS, FILE_HOOK_NAMES, FILE_HOOKS } from '../src/dialects/index.ts';
import { EVENT_NAMES, EVENTS, getSubject } from '../src/hooks/events.ts';
import type { EventName, HookEvent, Moment } from '../src/hooks/facts.ts';
import { createSampleEvent } from '../src/testing/sample-event.ts';
import type { GeneratedFile } from './generated-file.ts';
import { code, formatPage, formatTable } from './markdown.ts';

export function eventsPage(): GeneratedFile {
  return {
    path: 'docs/reference/events.md',
    text: formatPage('Events', 'src/hooks/events.ts', [
      'An event is a named moment with facts. Hooks of an event answer with a decision, and all decisions merge to one verdict.',
      '## When they fire',
      formatTable(['Event', 'Fires', 'A refusal means'], EVENT_NAMES.map(meaningRow)),
      '## What a decision may do',
      'Effects that are not listed are ignored with a note, and so are changes. Several answers merge: the strictest effect holds, `last` keeps the last change in declared order, `join` keeps all. A `stop` is obeyed, ignored with a note, or obeyed even over a refusal. Matchers are tried on every name of the tool, or on the value of which the last column has an example.',
      formatTable(
        ['Event', 'Effects', 'stop', 'Changes', 'Matchers see'],
        EVENT_NAMES.map(decisionRow),
      ),
      '## Names in each dialect',
      'Hooks of other agents are declared under the names that these agents use. A name in parentheses runs only for some of these events, such as runs that failed.',
      formatTable(
        ['Event', ...DIALECTS.map(({ label, name }) => label ?? name)],
        EVENT_NAMES.map((name) => [
          code(name),
          ...DIALECTS.map(({ events }) => listForeignNames(name, events)),
        ]),
      ),
      '## Names of Cline hooks',
      'A Cline hook is a file with one of these names; `hookName` in its payload is this name for a classic hook and the other one for a hook of the SDK.',
      formatTable(['File', 'Event', 'Only when', 'hookName of the SDK'], fileHookRows()),
      '`PostToolUse` does not run after a call that was denied, because then no tool ran.',
    ]),
  };
}

function meaningRow(name: EventName): string[] {
  const { fires, refusal } = EVENTS[name];
  return [code(name), fires, refusal ?? 'cannot be refused'];
}

function decisionRow(name: EventName): string[] {
  const { effects, stop, changes } = EVENTS[name];
  return [
    code(name),
    listOr('none', effects.map(code)),
    STOPS[stop],
    listOr(
      'none',
      Object.entries(changes).map(([field, rule]) => `${code(field)} (${rule})`),
    ),
    matchersSee(name),
  ];
}

const STOPS = { obeyed: 'obeyed', ignored: 'ignored', 'over-refusal': 'over a refusal' } as const;

function matchersSee(name: EventName): string {
  const event = createExampleEvent(name);
  if ('tool' in event) return 'names of the tool';
  const subject = getSubject(event);
  return subject === null ? 'nothing' : code(subject);
}

/** Lists the names that run at the example of an event, then in parentheses those that need other facts. */
function listForeignNames(name: EventName, events: Dialect['events']): string {
  const names = events.listNames(createExampleEvent(name));
  const conditional = events.names.filter(
    (each) => !names.includes(each) && events.find(each)?.event === name,
  );
  return listOr('none', [...names.map(code), ...conditional.map((each) => `(${code(each)})`)]);
}

function createExampleEvent(name: EventName): HookEvent {
  return { ...EXAMPLE_MOMENT, ...createSampleEvent(name) };
}

const EXAMPLE_MOMENT: Moment = {
  sessionId: '',
  taskId: '',
  ulid: '',
  at: 0,
  cwd: '/example',
  workspaceRoots: [],
  permissionMode: 'default',
  model: { provider: 'unknown', id: 'unknown' },
  agent: { id: '', parentId: null, type: null },
  iteration: 0,
  userId: '',
  version: '',
  transcriptPath: null,
  promptId: null,
};

function fileHookRows(): string[][] {
  return FILE_HOOK_NAMES.map((name) => {
    const { events, facts, sdkName } = FILE_HOOKS[name];
    const conditions = Object.entries(facts).map(
      ([fact, value]) => `${code(fact)} is ${code(value)}`,
    );
    return [code(name), events.map(code).join(', '), conditions.join(', '), code(sdkName)];
  });
}

function listOr(nothing: string, items: readonly string[]): string {
  return items.length === 0 ? nothing : items.join(', ');
}
