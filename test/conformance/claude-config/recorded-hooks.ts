import type { EventName } from '../../../src/hooks/facts.ts';
import { command, expectVerdict, type Group, hooks, type VerdictSummary } from './fixture.ts';
import { actAt, namedCases } from './recording.ts';
import { type Act, languageFor, scriptOf } from './scripts.ts';

export interface RecordedHooks {
  readonly group: string;
  readonly event: EventName;
  /** The facts of a case's event. */
  readonly facts: (name: string) => Readonly<Record<string, unknown>>;
  /** What each case comes to; `$HOOK` stands for the hook's command. */
  readonly expected: Readonly<Record<string, VerdictSummary>>;
}

/** Tests of a group whose recording holds one hook for each case; each runs in one of four languages. */
export function recordedHooks({ group, event, facts, expected }: RecordedHooks): Group {
  const acts = new Map(namedCases(group).map((name) => [name, actAt(group, name, 'hook')]));
  return oneHookEach({ group, event, facts, expected, acts });
}

export interface OneHookEach extends RecordedHooks {
  readonly acts: ReadonlyMap<string, Act>;
}

/** Tests with one hook for each case. */
export function oneHookEach({ group, event, facts, expected, acts }: OneHookEach): Group {
  const cases = Object.entries(expected).map(([name, outcome], index) => ({
    name,
    run: async (openFixture: Parameters<Group['cases'][number]['run']>[0]) => {
      const script = scriptOf(acts.get(name) ?? {}, 'hook', languageFor(index));
      const { fire } = await openFixture({
        files: { [script.file]: script.text },
        project: hooks(event, [command(script.command)]),
      });
      expectVerdict(await fire(event, facts(name)), withCommand(outcome, script.command));
    },
  }));
  return { name: group, cases };
}

/** The expectation with `$HOOK` replaced. */
export function withCommand(outcome: VerdictSummary, hook: string): VerdictSummary {
  return JSON.parse(
    JSON.stringify(outcome).replaceAll('$HOOK', () => JSON.stringify(hook).slice(1, -1)),
  );
}
