import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { colors } from '../words/colors.ts';
import { systemClock } from '../../base/clock.ts';
import { createHost, type Host, type HostOptions } from '../../host/create-host.ts';
import { readSurroundings } from '../../host/config.ts';
import { trustUnit } from '../../host/hook-set.ts';
import type { Verdict } from '../../hooks/decision.ts';
import { bindUnit } from '../../trust/bytes.ts';
import { trustUnits } from '../../trust/record.ts';
import type { Command } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { plural } from '../words/print.ts';
import { jsonVerdict, readableVerdict } from '../words/verdict.ts';
import { AGENT_OPTIONS, AGENT_TITLE, runAgent } from './demo/agent-run.ts';
import { type Step, TRUSTED, UNTRUSTED } from './demo/steps.ts';
import { writeWorkspace } from './demo/workspace.ts';
import { recordFile } from './trust.ts';

/** `hookline demo`: real hooks in a throw-away workspace, fired one after the other, and an agent. */
export const showDemo: Command<object> = async ({ print, flags, signal }) => {
  const place = mkdtempSync(path.join(tmpdir(), 'hookline-demo-'));
  const say = (text: string): void => (flags.json === true ? undefined : print.out(text));
  try {
    writeWorkspace(place);
    say(`A workspace with four hooks in two formats, and one hook of your own, in ${place}\n`);
    const before = await openDemo(place);
    const untrusted = await runSteps(before, [UNTRUSTED], { say, signal });
    say(colors.dim('\n  hookline trust --yes\n'));
    await trustAll(before);
    await before.dispose();
    const host = await openDemo(place, AGENT_OPTIONS);
    const trusted = await runSteps(host, TRUSTED, { say, signal });
    const worked = await showAgent(host, { say, signal });
    await host.dispose();
    const results = [...untrusted, ...trusted, ...worked];
    const broken = results.filter(({ holds }) => !holds);
    if (flags.json === true) {
      print.json({
        steps: results.map(({ verdict, ...rest }) => ({
          ...rest,
          verdict: verdict === null ? null : jsonVerdict(verdict),
        })),
      });
    }
    say(
      broken.length === 0
        ? `\nAll ${plural(results.length, 'claim')} held.`
        : `\n${plural(broken.length, 'claim')} did not hold.`,
    );
    return broken.length === 0 ? EXIT.fine : EXIT.refused;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
};

function openDemo(place: string, options: HostOptions = {}): Promise<Host> {
  const surroundings = readSurroundings();
  const home = path.join(place, 'home');
  const cwd = path.join(place, 'workspace');
  // Nothing of the person's own configuration, hooks or trust takes part in the tour.
  const env = { PATH: surroundings.env['PATH'], HOME: home, USER: 'demo' };
  return createHost({
    cwd,
    roots: [cwd],
    surroundings: { ...surroundings, cwd, home, env },
    ...options,
  });
}

async function trustAll(host: Host): Promise<void> {
  const bindings = host
    .hooks()
    .filter(({ hook }) => hook.place === 'workspace')
    .map(({ hook }) => bindUnit(trustUnit(hook)));
  await trustUnits(recordFile(host), bindings, {
    now: systemClock.now(),
    guardedRoots: host.trust.guardedRoots,
  });
}

interface Claimed {
  readonly step: string;
  readonly claim: string;
  readonly holds: boolean;
  /** Of the event that was fired; null for what the agent did. */
  readonly verdict: Verdict | null;
}

interface Telling {
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

async function runSteps(
  host: Host,
  steps: readonly Step[],
  { say, signal }: Telling,
): Promise<Claimed[]> {
  const claimed: Claimed[] = [];
  for (const step of steps) {
    const verdict = await host.engine.dispatch(step.event, { signal });
    say(`${colors.bold(colors.cyan(step.title))}\n${readableVerdict(verdict)}`);
    for (const { claim, holds } of step.expects) {
      const isTrue = holds(verdict);
      say(claimLine(claim, isTrue));
      claimed.push({ step: step.title, claim, holds: isTrue, verdict });
    }
    say('');
  }
  return claimed;
}

function claimLine(claim: string, isTrue: boolean): string {
  return `  ${isTrue ? colors.green('→') : colors.red('✗ not so:')} ${claim}`;
}

async function showAgent(host: Host, { say, signal }: Telling): Promise<Claimed[]> {
  say(colors.bold(colors.cyan(AGENT_TITLE)));
  const claims = await runAgent(host, { say, signal });
  for (const { claim, holds } of claims) say(claimLine(claim, holds));
  return claims.map((each) => ({ ...each, step: AGENT_TITLE, verdict: null }));
}
