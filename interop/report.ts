import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { MeasuredAgent } from './measure-agent.ts';

const RESULTS = path.join(import.meta.dirname, 'results.json');
const PAGE = path.resolve(import.meta.dirname, '../docs/compatibility.md');

/** One agent as it was last measured. */
interface Row extends MeasuredAgent {
  /** The day of the run, as 2026-11-18. */
  readonly date: string;
}

/** Agents that cannot be run here, and why. */
const NOT_RUN: readonly (readonly [string, string])[] = [
  ['cursor', 'its program needs an account; read in its documentation'],
  ['droid', 'its program needs a login; read in the shipped program'],
];

/** Writes what was measured now over what was measured before, as data and as a page. */
export function writeReport(measured: readonly MeasuredAgent[]): void {
  const date = new Date().toISOString().slice(0, 10);
  const rows = new Map(readRows().map((row) => [row.agent, row]));
  for (const agent of measured) rows.set(agent.agent, { ...agent, date });
  const sorted = [...rows.values()].toSorted((one, other) => one.agent.localeCompare(other.agent));
  writeFileSync(RESULTS, `${JSON.stringify(sorted, null, 2)}\n`);
  writeFileSync(PAGE, formatPage(sorted));
}

function readRows(): readonly Row[] {
  return existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : [];
}

function formatPage(rows: readonly Row[]): string {
  return [
    '# Compatibility with other agents',
    '',
    'Written by `npm run interop`, which installs the real programs, switches Hookline on in each with `hookline agents enable`, lets',
    'it do one task against a model on this machine, and reads what was recorded. An event that the task does not cause is not listed.',
    '',
    '| agent | version | measured on | events recorded in one task | tools, in canonical words |',
    '|---|---|---|---|---|',
    ...rows.map(
      ({ agent, version, date, events, tools }) =>
        `| ${agent} | ${version} | ${date} | ${events.join(', ')} | ${tools.join(', ')} |`,
    ),
    ...NOT_RUN.map(([agent, why]) => `| ${agent} | – | not run: ${why} | – | – |`),
    '',
  ].join('\n');
}
