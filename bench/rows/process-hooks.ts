import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Verdict } from '../../src/hooks/decision.ts';
import type { FiredEvent } from '../../src/hooks/facts.ts';
import { spawnBare } from '../bare.ts';
import { openPeer } from '../peer.ts';
import {
  createTempWorkspace,
  openHost,
  type TempWorkspace,
  type Program,
  trustEverything,
  writeProgram,
  writeScript,
} from '../temp-workspace.ts';
import type { Bound, Contest, Row, RowOptions } from '../row.ts';
import { watchTrace } from '../trace-watch.ts';

interface Scene {
  readonly hooks: number;
  readonly payload: '1 KB' | '1 MB';
  readonly program: Program;
  readonly samples: number;
  /** Whether each dispatch leaves its entry; writing it is waited for outside the measured time. */
  readonly isTraced: boolean;
}

const ONE: Scene = { hooks: 1, payload: '1 KB', program: 'echo', samples: 500, isTraced: false };
const LARGE: Scene = { ...ONE, payload: '1 MB', program: 'answer', samples: 200 };
const FOUR: Scene = { ...ONE, hooks: 4, samples: 200 };
const SIXTEEN: Scene = { ...ONE, hooks: 16, samples: 100 };

/** Programs as hooks of a trusted workspace, against starting the same programs by hand. */
export const processRows: readonly Row[] = [
  createProcessRow(ONE, {
    atMost: 1.05,
    because: 'parity; Cline’s SDK 0.95–1.08, VS Code Cline 1.18',
  }),
  createProcessRow(LARGE, {
    atMost: 1.1,
    because: 'bare spawn plus one JSON.stringify; Cline 1.23',
  }),
  createProcessRow(FOUR, { atMost: 1.1, because: 'as many bare spawns at once; Cline 1.35–1.48' }),
  createProcessRow(SIXTEEN, {
    atMost: 1.1,
    because: 'as many bare spawns at once; Cline 1.35–1.48',
  }),
  {
    ...createProcessRow(
      { ...ONE, isTraced: true },
      { atMost: 1.1, because: 'the trace is written after the verdict' },
    ),
    name: '1 hook, 1 KB, traced',
  },
  {
    ...createProcessRow(
      { ...LARGE, program: 'echo' },
      { atMost: 1.5, because: 'the answer is parsed, which a bare call leaves out', isAim: true },
    ),
    name: '1 hook, 1 MB there and back',
  },
];

/** The same beside a peer, which makes the process so large that these rows can only be read, not gate. */
export const peerRows: readonly Row[] = [ONE, LARGE, FOUR].map((scene) => ({
  name: `${formatName(scene)}, script, beside the peer`,
  bound: { of: 'ratio', atMost: 1.1, because: 'no slower than without it', isAim: true },
  open: (options) => openPeerScene(scene, options),
}));

function createProcessRow(scene: Scene, bound: Omit<Bound, 'of'>): Row {
  return {
    name: formatName(scene),
    bound: { of: 'ratio', ...bound },
    open: (options) => openScene(scene, options),
  };
}

function formatName({ hooks, payload }: Scene): string {
  return `${hooks} hook${hooks === 1 ? '' : 's'}, ${payload}`;
}

async function openScene(scene: Scene, options: RowOptions): Promise<Contest> {
  const place = createTempWorkspace();
  const files = listHookFiles(place, scene.hooks);
  for (const file of files) writeProgram(file, scene.program);
  return openContest(scene, { place, files, options });
}

async function openPeerScene(scene: Scene, options: RowOptions): Promise<Contest> {
  const place = createTempWorkspace();
  const files = listHookFiles(place, scene.hooks);
  for (const file of files) writeScript(file, scene.program);
  const contest = await openContest(scene, { place, files, options });
  return { ...contest, peer: await openPeer(place, createToolCall(scene)) };
}

// Extensions that our discovery and the peer's both take; the program itself decides how it is started.
const EXTENSIONS = ['', '.sh', '.bash', '.zsh', '.js', '.mjs', '.cjs', '.py'];

function listHookFiles({ workspace }: TempWorkspace, count: number): string[] {
  const directories = ['.clinerules/hooks', '.cline/hooks'];
  return directories
    .flatMap((directory) =>
      EXTENSIONS.map((extension) => path.join(workspace, directory, `PreToolUse${extension}`)),
    )
    .slice(0, count);
}

interface Setting {
  readonly place: TempWorkspace;
  readonly files: readonly string[];
  readonly options: RowOptions;
}

async function openContest(scene: Scene, { place, files, options }: Setting): Promise<Contest> {
  await trustEverything(place);
  const event: FiredEvent = { name: 'PreToolUse', tool: createToolCall(scene) };
  const stdin = Buffer.from(await capturePayload(event));
  const facts: unknown = JSON.parse(stdin.toString());
  const host = await openHost(place, { flags: { 'trace.enabled': scene.isTraced } });
  refuseUnlessAllRan(await host.engine.dispatch(event), files.length);
  const call = { cwd: place.workspace, env: place.surroundings.env };
  const trace = watchTrace(place);
  const samples = options.quick ? 30 : scene.samples;
  return {
    samples,
    // A host lives longer than V8 needs to compile what it runs; what is left is what the work takes.
    warmUps: samples,
    batch: 1,
    us: () => {
      if (scene.isTraced) trace.expect();
      return host.engine.dispatch(event);
    },
    bare: () => {
      const input = scene.payload === '1 MB' ? JSON.stringify(facts) : stdin;
      return Promise.all(files.map((file) => spawnBare({ ...call, file, stdin: input })));
    },
    settle: () => trace.settle(),
    async close() {
      await host.dispose();
      place.remove();
    },
  };
}

const CONTENT_BYTES = { '1 KB': 150, '1 MB': 512 * 1024 };
const LINE = 'const answer = "forty-two"; // and so on\n';

/** The payload carries the input twice, once for each generation of hooks. */
function createToolCall({ payload }: Scene) {
  const length = CONTENT_BYTES[payload];
  const content = LINE.repeat(Math.ceil(length / LINE.length)).slice(0, length);
  return { callId: 'call-1', name: 'write_to_file', input: { path: 'src/answer.js', content } };
}

/** What the engine writes to a hook for this event, byte for byte. */
async function capturePayload(event: FiredEvent): Promise<string> {
  const place = createTempWorkspace();
  const hook = path.join(place.workspace, '.clinerules', 'hooks', 'PreToolUse');
  const copy = path.join(place.home, 'payload.json');
  writeScript(hook, 'echo');
  writeFileSync(hook, `#!/bin/sh\nexec cat > '${copy}'\n`);
  const host = await openHost(place, { trust: 'all', flags: { 'trace.enabled': false } });
  await host.engine.dispatch(event);
  await host.dispose();
  const payload = readFileSync(copy, 'utf8');
  place.remove();
  return payload;
}

function refuseUnlessAllRan({ outcomes, skipped }: Verdict, count: number): void {
  const decided = outcomes.filter(({ status }) => status === 'decided').length;
  if (decided === count) return;
  const details = JSON.stringify({ skipped, outcomes: outcomes.map(({ failure }) => failure) });
  throw new Error(`expected ${count} hooks to run, found ${decided}: ${details}`);
}
