import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { systemClock } from '../../base/clock.ts';
import { readSurroundings } from '../../host/config.ts';
import { createHost, type Host, type HostOptions } from '../../host/create-host.ts';
import { trustUnit } from '../../host/hook-set.ts';
import { bindUnit } from '../../trust/bytes.ts';
import { grantTrust } from '../../trust/record.ts';
import type { Command } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { pluginOptions } from '../plugin-options.ts';
import { colors } from '../words/colors.ts';
import { oneLine, plural } from '../words/print.ts';
import { CLAIMS, type Finished } from './demo/claims.ts';
import { PROMPT, watchedModel } from './demo/script.ts';
import { timelineOf } from './demo/timeline.ts';
import { writeWorkspace } from './demo/workspace.ts';
import { recordFile } from './trust.ts';

/** `hookline demo`: one run with hooks of all three kinds in a throw-away workspace; only the model is scripted. */
export const showDemo: Command<object> = async ({ print, flags, signal }) => {
  const place = mkdtempSync(path.join(tmpdir(), 'hookline-demo-'));
  const say = (text: string): void => (flags.json === true ? undefined : print.out(text));
  try {
    writeWorkspace(place);
    say(`A workspace with a Cline file hook, three Claude hooks and a Cline plugin, in ${place}`);
    const waiting = await trustAll(place, say);
    const finished = await runTask(place, { say, signal });
    const claims = [
      { claim: 'nothing of the workspace was ready before it was trusted', holds: waiting === 5 },
      ...CLAIMS.map(({ claim, holds }) => ({ claim, holds: holds(finished) })),
    ];
    if (flags.json === true) print.json({ claims });
    say('');
    for (const each of claims) say(claimLine(each));
    const broken = claims.filter(({ holds }) => !holds).length;
    say(
      broken === 0
        ? `\nAll ${plural(claims.length, 'claim')} held.`
        : `\n${plural(broken, 'claim')} did not hold.`,
    );
    return broken === 0 ? EXIT.fine : EXIT.refused;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
};

function claimLine({ claim, holds }: { claim: string; holds: boolean }): string {
  return `${holds ? colors.green('→') : colors.red('✗ not so:')} ${claim}`;
}

/** Nothing of the person's own configuration, hooks or trust takes part in the tour. */
function openDemo(place: string, options: HostOptions = {}): Promise<Host> {
  const surroundings = readSurroundings();
  const home = path.join(place, 'home');
  const cwd = path.join(place, 'workspace');
  const env = { PATH: surroundings.env['PATH'], HOME: home, USER: 'demo' };
  return createHost({
    cwd,
    roots: [cwd],
    surroundings: { ...surroundings, cwd, home, env },
    ...options,
  });
}

/** Shows what would not run, and trusts it as `hookline trust` does; how much waited for that. */
async function trustAll(place: string, say: (text: string) => void): Promise<number> {
  const host = await openDemo(place);
  const waiting = host.hooks().filter(({ state }) => state === 'untrusted');
  for (const { hook, why } of waiting) say(colors.dim(`  ${hook.id}: ${why}`));
  say(`\n${colors.bold('$ hookline trust --yes')}\n`);
  const bindings = waiting.map(({ hook }) => bindUnit(trustUnit(hook)));
  await grantTrust(recordFile(host), bindings, {
    now: systemClock.now(),
    guardedRoots: host.trust.guardedRoots,
  });
  await host.dispose();
  return waiting.length;
}

interface Telling {
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

async function runTask(place: string, { say, signal }: Telling): Promise<Finished> {
  const { model, requests } = watchedModel();
  const host = await openDemo(place, {
    model,
    permissionMode: 'acceptEdits',
    allow: ['Bash(node check.js)', 'count_words'],
    onNotice: (text) => say(colors.yellow(`note    ${oneLine(text)}`)),
    plugins: {
      ...pluginOptions({}),
      onConsole: (text) => say(`${colors.cyan('plugin')}  ${oneLine(text)}`),
    },
  });
  const news: RuntimeEvent[] = [];
  host.subscribe((event) => {
    news.push(event);
    for (const line of timelineOf(event, host.startDirectory)) say(line);
  });
  const { sessionId, result, transcriptPath } = await host.start({ prompt: PROMPT, signal });
  const plugins = host.plugins(sessionId)?.list() ?? [];
  await host.dispose();
  const transcript = transcriptPath === null ? '' : readFileSync(transcriptPath, 'utf8');
  return { result, news, requests, plugins, transcript, workspace: path.join(place, 'workspace') };
}
