import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { type RealAgent, readVersion, REAL_AGENTS } from './agents.ts';
import { type MeasuredAgent, measureAgent } from './measure-agent.ts';
import { writeReport } from './report.ts';

const { values } = parseArgs({
  options: {
    // Agents that are left out on purpose, such as one that has no program for this platform.
    without: { type: 'string', multiple: true, default: [] },
    only: { type: 'string', multiple: true, default: [] },
  },
});

const wanted = REAL_AGENTS.filter(
  ({ name }) =>
    !values.without.includes(name) && (values.only.length === 0 || values.only.includes(name)),
);
installMissing(wanted);
const measured: MeasuredAgent[] = [];
const failures: string[] = [];
for (const agent of wanted) {
  const result = await measureAgent(agent);
  if (typeof result === 'string') failures.push(`${agent.name}: ${result}`);
  else measured.push(result);
  print(agent, result);
}
writeReport(measured);
for (const failure of failures) process.stdout.write(`FAILED: ${failure}\n`);
process.stdout.write(`${measured.length} passed, ${failures.length} failed\n`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Without scripts of packages, as everything here is installed. */
function installMissing(agents: readonly RealAgent[]): void {
  if (agents.every((agent) => readVersion(agent) !== null)) return;
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund'];
  spawnSync('npm', args, { cwd: import.meta.dirname, stdio: 'inherit' });
}

function print({ name }: RealAgent, result: MeasuredAgent | string): void {
  const text =
    typeof result === 'string' ? result : `${result.version}: ${result.events.join(', ')}`;
  process.stdout.write(`${name} ${text}\n`);
}
