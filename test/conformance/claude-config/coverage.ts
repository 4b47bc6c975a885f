import type { Group } from './build.ts';
import { differencesTable } from './differences.ts';
import { DUE_IN_HOST } from './due-in-host.ts';
import { GROUP_NAMES, namedCases, RECORDING } from './recording.ts';

export interface Coverage {
  readonly group: string;
  readonly what: string;
  /** How many cases the recording names. */
  readonly named: number;
  /** How many tests there are. */
  readonly tests: number;
  /** The cases that only the agent host can show. */
  readonly due: readonly string[];
}

export function coverageOf(groups: readonly Group[]): readonly Coverage[] {
  const extra = groups.map(({ name }) => name).filter((name) => !GROUP_NAMES.includes(name));
  return [...GROUP_NAMES, ...extra].map((group) => {
    const tested = groups.find(({ name }) => name === group)?.cases.map(({ name }) => name) ?? [];
    const named = GROUP_NAMES.includes(group) ? namedCases(group) : [];
    return {
      group,
      what: RECORDING.vectors[group]?.what ?? 'described, not recorded',
      named: named.length,
      tests: tested.length,
      due: named.filter((name) => !tested.includes(name)),
    };
  });
}

/** What COVERAGE.md says. */
export function coveragePage(groups: readonly Group[]): string {
  const rows = coverageOf(groups).map(
    ({ group, what, named, tests, due }) =>
      `| ${group} | ${cell(what)} | ${named} | ${tests} | ${due.join(', ')} |`,
  );
  const later = DUE_IN_HOST.map(
    ({ group, case: name, reason }) =>
      `| ${group} | ${name === '*' ? 'all' : name} | ${cell(reason)} |`,
  );
  return `${PAGE_HEAD}
| group | what was recorded | cases | tests | without a test here |
|---|---|---|---|---|
${rows.join('\n')}

## What shows only in an agent

Decisions of these cases are tested here; what an agent does with them is due with the agent host.

| group | case | what is due |
|---|---|---|
${later.join('\n')}

## Where we differ, and why

Each difference has a test of what happens here.

${differencesTable()}`;
}

const PAGE_HEAD = `# What the Claude-format suite covers

\`claude-payloads.json\` holds what Claude Code 2.1.325 was seen to do, in groups of named cases. Every
case is a test that runs a real hook (a shell, bash, Python or Node.js program, a real HTTP server, or a
scripted double of the model and of MCP servers) through the real host, and checks the verdict. A case
without a test fails the suite, unless it is listed below as due with the agent host. This page is
written by the suite.

Besides the groups: \`test/conformance/claude-config-payloads.test.ts\` compares what hooks read on stdin
with every recorded payload, and \`test/conformance/claude-config-seed-003.test.ts\` runs the scripts,
configurations and plugins of the published hook guide.
`;

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');
}
