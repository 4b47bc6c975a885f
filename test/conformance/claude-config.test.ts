import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createFixtureOpener } from './claude-config/fixture.ts';
import { casesInAgent, coveragePage, coverageOf } from './claude-config/coverage.ts';
import { DIFFERENCES, differencesTable } from './claude-config/differences.ts';
import { DUE_IN_HOST } from './claude-config/due-in-host.ts';
import { GROUPS } from './claude-config/groups/index.ts';
import { missingPrograms, titleWithout } from './claude-config/programs.ts';
import { GROUP_NAMES, namedCases } from './claude-config/recording.ts';
import { HOST_GROUPS } from './claude-host/groups/index.ts';

const ALL = { groups: GROUPS, hostGroups: HOST_GROUPS };
import { standInNotes } from './claude-config/scripts.ts';

const passed = new Map<string, number>();
const skipped = new Map<string, number>();

describe('the recorded behaviour of Claude Code', () => {
  afterAll(() => {
    const lines = coverageOf(ALL).map(({ group, tests, named, due }) => {
      const remainingNote = due.length === 0 ? '' : `, ${due.length} left`;
      const without = skipped.has(group) ? `, ${skipped.get(group)} skipped` : '';
      return `claude-config ${group}: ${passed.get(group) ?? 0} of ${tests} cases passed${without} (${named} recorded${remainingNote})\n`;
    });
    const notes = standInNotes().map((note) => `claude-config: ${note}\n`);
    process.stdout.write([...lines, ...notes].join(''));
  });

  for (const { name: group, cases } of GROUPS) {
    describe(group, () => {
      for (const { name, needs = [], run } of cases) {
        const missing = missingPrograms(needs);
        if (missing.length > 0) skipped.set(group, (skipped.get(group) ?? 0) + 1);
        it.skipIf(missing.length > 0).concurrent(
          titleWithout(name, missing),
          async ({ expect, onTestFinished }) => {
            // Assertions of the global `expect` are counted for any of the tests that run side by side.
            const end = run(createFixtureOpener((work) => onTestFinished(work))).then(() => 'passed');
            expect(await end).toBe('passed');
            passed.set(group, (passed.get(group) ?? 0) + 1);
          },
        );
      }
    });
  }
});

describe('every case of the recording', () => {
  const tested = new Map(GROUPS.map(({ name, cases }) => [name, cases.map((each) => each.name)]));
  const hasTest = (group: string, name: string): boolean =>
    (tested.get(group) ?? []).includes(name) || casesInAgent(HOST_GROUPS, group).includes(name);

  it.each(GROUP_NAMES)('of %s has a test, or is due in the agent', (group) => {
    const due = DUE_IN_HOST.filter((each) => each.group === group).map((each) => each.case);
    const without = namedCases(group).filter(
      (name) => !hasTest(group, name) && !due.includes(name),
    );
    expect(without).toEqual([]);
    expect(tested.get(group) ?? []).not.toEqual([]);
  });

  it('is named once', () => {
    for (const [group, names] of tested) {
      expect({ group, names: [...new Set(names)] }).toEqual({ group, names });
    }
  });

  it('that an agent is tested with is in the recording', () => {
    const recorded = HOST_GROUPS.filter(({ name }) => GROUP_NAMES.includes(name));
    const unknown = recorded.flatMap(({ name: group }) =>
      casesInAgent(HOST_GROUPS, group)
        .filter((name) => !namedCases(group).includes(name))
        .map((name) => ({ group, name })),
    );
    expect(unknown).toEqual([]);
  });

  it('that is listed as due is in the recording', () => {
    const unknown = DUE_IN_HOST.filter(
      (each) => each.case !== '*' && !namedCases(each.group).includes(each.case),
    );
    expect(unknown).toEqual([]);
  });

  it('that is listed as different is in the recording and has a test', () => {
    const listed = DIFFERENCES.flatMap(({ cases }) =>
      Object.entries(cases).flatMap(([group, names]) => names.map((name) => ({ group, name }))),
    );
    const unknown = listed.filter(
      ({ group, name }) => !namedCases(group).includes(name) || !hasTest(group, name),
    );
    expect(unknown).toEqual([]);
  });
});

it('COVERAGE.md is up to date (write it anew with vitest -u)', async () => {
  const page = path.join(import.meta.dirname, 'claude-config', 'COVERAGE.md');
  await expect(coveragePage(ALL)).toMatchFileSnapshot(page);
});

it('the table of differences has a row for each of them', () => {
  expect(differencesTable().trimEnd().split('\n').length).toBe(DIFFERENCES.length + 2);
});

it('the documentation lists every difference in the same words', () => {
  const document = readFileSync('docs/dialects/claude.md', 'utf8');
  const rows = differencesTable().trimEnd().split('\n').slice(2);
  expect(rows.filter((row) => !document.includes(row))).toEqual([]);
});
