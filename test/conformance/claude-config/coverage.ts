import type { HostGroup } from '../claude-host/play.ts';
import type { Group } from './fixture.ts';
import { differencesTable } from './differences.ts';
import { DUE_IN_HOST } from './due-in-host.ts';
import { GROUP_NAMES, namedCases, RECORDING } from './recording.ts';

export interface Coverage {
  readonly group: string;
  readonly what: string;
  /** How many cases the recording names. */
  readonly named: number;
  /** How many tests look at the verdict. */
  readonly tests: number;
  /** How many tests look at what an agent does with it. */
  readonly inAgent: number;
  /** The cases without any test. */
  readonly due: readonly string[];
}

export interface AllGroups {
  readonly groups: readonly Group[];
  readonly hostGroups: readonly HostGroup[];
}

/** The cases of the recording that an agent's tests of a group are about. */
export function casesInAgent(hostGroups: readonly HostGroup[], group: string): readonly string[] {
  const { cases = [] } = hostGroups.find(({ name }) => name === group) ?? {};
  return cases.map(({ name }) => name.split(': ')[0] ?? name);
}

export function coverageOf({ groups, hostGroups }: AllGroups): readonly Coverage[] {
  const extra = [...groups, ...hostGroups]
    .map(({ name }) => name)
    .filter((name) => !GROUP_NAMES.includes(name));
  return [...GROUP_NAMES, ...new Set(extra)].map((group) => {
    const tested = groups.find(({ name }) => name === group)?.cases.map(({ name }) => name) ?? [];
    const documentedCases = GROUP_NAMES.includes(group) ? namedCases(group) : [];
    const inAgent = casesInAgent(hostGroups, group);
    return {
      group,
      what: RECORDING.vectors[group]?.what ?? 'described, not recorded',
      named: documentedCases.length,
      tests: tested.length,
      inAgent: inAgent.length,
      due: documentedCases.filter((name) => !tested.includes(name) && !inAgent.includes(name)),
    };
  });
}

/** The text of COVERAGE.md. */
export function coveragePage(all: AllGroups): string {
  const rows = coverageOf(all).map(
    ({ group, what, named, tests, inAgent, due }) =>
      `| ${group} | ${cell(what)} | ${named} | ${tests} | ${inAgent} | ${due.join(', ')} |`,
  );
  const later = DUE_IN_HOST.map(
    ({ group, case: name, reason }) =>
      `| ${group} | ${name === '*' ? 'all' : name} | ${cell(reason)} |`,
  );
  return `${PAGE_HEAD}
| group | what was recorded | cases | tests of the verdict | tests in an agent | without a test |
|---|---|---|---|---|---|
${rows.join('\n')}

${leftSection(later)}
## Where we differ, and why

Each difference has a test of what happens here.

${differencesTable()}`;
}

function leftSection(rows: readonly string[]): string {
  if (rows.length === 0) return '';
  return `## What is left

Decisions of these cases are tested; what an agent does with them is not there yet.

| group | case | what is due |
|---|---|---|
${rows.join('\n')}
`;
}

const PAGE_HEAD = `# What the Claude-format suite covers

\`claude-payloads.json\` holds what Claude Code 2.1.325 was seen to do, in groups of named cases. Every
case is a test that runs a real hook (a shell, bash, Python or Node.js program, a real HTTP server, or a
scripted double of the model and of MCP servers) through the real host, and checks the verdict.
\`test/conformance/claude-host.test.ts\` runs the hooks of many of them in the built program,
\`hookline run\`, against a model that is told what to say, and checks what an agent then does: what the
model reads next, which hooks run in which order, how the run ends. A case without a test fails the
suite, unless it is listed below as left. This page is written by the suite.

Besides the groups: \`test/conformance/claude-config-payloads.test.ts\` compares what hooks read on stdin
with every recorded payload, and \`test/conformance/claude-config-guide.test.ts\` runs the scripts,
configurations and plugins of the published hook guide.
`;

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');
}
