import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeMachine, installedVersion } from './machine.ts';
import { PEER, PEER_MISSING, PEER_PROGRAM } from './peer.ts';
import { markdownReport, plainTable, tableOf, verdictText } from './report.ts';
import { type Row, type RowResult, runRow } from './row.ts';
import { acpRows } from './rows/acp.ts';
import { agentRows } from './rows/agent.ts';
import { chatRows } from './rows/chat.ts';
import { claudeConfigRows } from './rows/claude-config.ts';
import { discoveryRows } from './rows/discovery.ts';
import { enduranceRows } from './rows/endurance.ts';
import { inProcessRows } from './rows/in-process.ts';
import { isolatedHookRows } from './rows/isolated-hook.ts';
import { longSessionRows } from './rows/long-session.ts';
import { peerPluginRows, pluginRows } from './rows/plugin-import.ts';
import { pluginDispatchRows, pluginPeerRows } from './rows/plugin-dispatch.ts';
import { peerRows, processRows } from './rows/process-hooks.ts';
import { peerProgramRows, programRows } from './rows/program-runs.ts';
import { startUpRows } from './rows/start-up.ts';

const { values: flags } = parseArgs({
  options: {
    project: { type: 'string', default: '.' },
    only: { type: 'string', default: '' },
    quick: { type: 'boolean', default: false },
    peer: { type: 'boolean', default: false },
  },
});
const ROWS = [
  // First: what takes a microsecond takes longer in a process that has done much else before.
  ...pluginDispatchRows,
  ...inProcessRows,
  ...processRows,
  ...isolatedHookRows,
  ...discoveryRows,
  ...claudeConfigRows,
  ...startUpRows,
  ...agentRows,
  ...chatRows,
  ...acpRows,
  ...programRows,
  ...enduranceRows,
  ...longSessionRows,
  ...pluginRows,
];
const BESIDE_PEER = [...peerRows, ...pluginPeerRows];

if (flags.peer) process.stdout.write(JSON.stringify(await runRows(BESIDE_PEER)));
else await bench();

async function bench(): Promise<void> {
  const library = installedVersion(flags.project, PEER);
  const program = installedVersion(flags.project, PEER_PROGRAM);
  const peers = [library, program].filter((peer) => peer !== null);
  const machine = describeMachine(peers);
  const results = [
    ...(await runRows(ROWS)),
    ...(program === null ? [] : await runRows(peerProgramRows)),
    ...(library === null ? [] : await runRows(peerPluginRows)),
    ...(library === null ? [] : runBesidePeer()),
  ];
  const remarks = peers.length < 2 ? [PEER_MISSING] : [];
  say([...machine, '', plainTable(tableOf(results)), '', ...remarks].join('\n'));
  if (flags.only === '' && !flags.quick) {
    const report = markdownReport({ results, machine, remarks });
    writeFileSync(path.join(flags.project, 'bench', 'results.md'), report);
  }
  const missed = results.filter(({ isMet, bound }) => !isMet && bound.isAim !== true);
  for (const { name, bound, facts } of missed) say(`missed: ${name} (${bound.because}) ${facts}`);
  if (missed.length > 0) process.exitCode = 1;
}

async function runRows(rows: readonly Row[]): Promise<RowResult[]> {
  const results: RowResult[] = [];
  for (const row of rows.filter(({ name }) => name.includes(flags.only))) {
    const result = await runRow(row, flags);
    const facts = result.facts === '' ? '' : ` (${result.facts})`;
    process.stderr.write(`${row.name}: ${verdictText(result)}${facts}\n`);
    results.push(result);
  }
  return results;
}

/** In a process of its own: the peer makes it several times as large, and everything slower with it. */
function runBesidePeer(): RowResult[] {
  const { stdout, status } = spawnSync(
    process.execPath,
    [fileURLToPath(import.meta.url), '--peer', ...process.argv.slice(2)],
    { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' },
  );
  if (status !== 0) throw new Error('the measurement beside the peer failed');
  return JSON.parse(stdout);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
