import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeMachine, readInstalledVersion } from './machine.ts';
import { PEER, PEER_MISSING, PEER_PROGRAM } from './peer.ts';
import { formatMarkdownReport, formatTable, buildTable, formatVerdict } from './report.ts';
import { type Row, type RowResult, runRow } from './row.ts';
import { acpRows } from './rows/acp.ts';
import { agentRows } from './rows/agent.ts';
import { chatRows } from './rows/chat.ts';
import { claudeConfigRows } from './rows/claude-config.ts';
import { discoveryRows } from './rows/discovery.ts';
import { enduranceRows } from './rows/endurance.ts';
import { inProcessRows } from './rows/in-process.ts';
import { isolatedHookRows } from './rows/isolated-hook.ts';
import { permissionRows } from './rows/permissions.ts';
import { longSessionRows } from './rows/long-session.ts';
import { peerPluginRows, pluginRows } from './rows/plugin-import.ts';
import { pluginDispatchRows, pluginPeerRows } from './rows/plugin-dispatch.ts';
import { peerRows, processRows } from './rows/process-hooks.ts';
import { peerProgramRows, programRows } from './rows/program-runs.ts';
import { redactionRows } from './rows/redaction.ts';
import { sandboxRows } from './rows/sandbox.ts';
import { startUpRows } from './rows/start-up.ts';
import { storeRows } from './rows/store.ts';

const { values: flags } = parseArgs({
  options: {
    project: { type: 'string', default: '.' },
    only: { type: 'string', default: '' },
    quick: { type: 'boolean', default: false },
    row: { type: 'string' },
  },
});
const ROWS = [
  ...processRows,
  ...inProcessRows,
  ...pluginDispatchRows,
  ...isolatedHookRows,
  ...permissionRows,
  ...discoveryRows,
  ...claudeConfigRows,
  ...startUpRows,
  ...storeRows,
  ...redactionRows,
  ...agentRows,
  ...chatRows,
  ...acpRows,
  ...programRows,
  ...sandboxRows,
  ...enduranceRows,
  ...longSessionRows,
  ...pluginRows,
];
const BESIDE_PROGRAM = peerProgramRows;
const BESIDE_LIBRARY = [...peerPluginRows, ...peerRows, ...pluginPeerRows];

if (flags.row === undefined) bench();
else process.stdout.write(JSON.stringify(await runRow(findRow(flags.row), flags)));

function bench(): void {
  const library = readInstalledVersion(flags.project, PEER);
  const program = readInstalledVersion(flags.project, PEER_PROGRAM);
  const peers = [library, program].filter((peer) => peer !== null);
  const machine = describeMachine(peers);
  const results = [
    ...ROWS,
    ...(program === null ? [] : BESIDE_PROGRAM),
    ...(library === null ? [] : BESIDE_LIBRARY),
  ]
    .filter(({ name }) => name.includes(flags.only))
    .map(runApart);
  const remarks = peers.length < 2 ? [PEER_MISSING] : [];
  print([...machine, '', formatTable(buildTable(results)), '', ...remarks].join('\n'));
  if (flags.only === '' && !flags.quick) {
    const report = formatMarkdownReport({ results, machine, remarks });
    writeFileSync(path.join(flags.project, 'bench', 'results.md'), report);
  }
  const missed = results.filter(({ isMet, bound }) => !isMet && bound.isAim !== true);
  for (const { name, bound, facts } of missed) print(`missed: ${name} (${bound.because}) ${facts}`);
  if (missed.length > 0) process.exitCode = 1;
}

/**
 * In a process of its own: one that has done much else before is larger, and so starts programs more
 * slowly, and what takes a microsecond takes longer in it.
 */
function runApart({ name }: Row): RowResult {
  const { stdout, status } = spawnSync(
    process.execPath,
    [...process.execArgv, fileURLToPath(import.meta.url), '--row', name, ...process.argv.slice(2)],
    { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`the measurement of "${name}" failed`);
  const result: RowResult = JSON.parse(stdout);
  const facts = result.facts === '' ? '' : ` (${result.facts})`;
  process.stderr.write(`${name}: ${formatVerdict(result)}${facts}\n`);
  return result;
}

function findRow(wanted: string): Row {
  const row = [...ROWS, ...BESIDE_PROGRAM, ...BESIDE_LIBRARY].find(({ name }) => name === wanted);
  if (row === undefined) throw new Error(`expected the name of a row, found "${wanted}"`);
  return row;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
