import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { spawnBare } from '../bare.ts';
import { createTempWorkspace, type TempWorkspace, trustEverything } from '../temp-workspace.ts';
import type { Contest, Row, RowOptions } from '../row.ts';

const HOOKS = ['PreToolUse', 'PostToolUse', 'TaskStart', 'UserPromptSubmit', 'TaskComplete'];
const BECAUSE = 'the built program, against `node -e 0`';

/** How long a user waits for the command that they type most. */
export const startUpRows: readonly Row[] = [
  {
    name: 'hookline hooks list, 5 trusted hooks',
    bound: { of: 'ratio', atMost: 2.2, because: BECAUSE },
    open: (options) => openListing(HOOKS, options),
  },
  {
    name: 'hookline hooks list, no hooks',
    bound: { of: 'ratio', atMost: 2.2, because: BECAUSE },
    open: (options) => openListing([], options),
  },
];

async function openListing(names: readonly string[], options: RowOptions): Promise<Contest> {
  const program = path.join(options.project, 'dist', 'bin', 'hookline.js');
  if (!existsSync(program)) throw new Error(`${program} is missing: run \`npm run build\` first`);
  const place = createTempWorkspace();
  writeHooks(place, names);
  if (names.length > 0) await trustEverything(place);
  const call = {
    file: process.execPath,
    cwd: place.workspace,
    env: place.surroundings.env,
    stdin: '',
  };
  const list = () => spawnBare({ ...call, args: [program, 'hooks', 'list'] });
  const listing = await list();
  const ready = listing.split('\n').filter((line) => line.includes(' ready ')).length;
  if (ready !== names.length) throw new Error(`expected ${names.length} hooks, found:\n${listing}`);
  return {
    samples: options.quick ? 30 : 100,
    batch: 1,
    us: list,
    bare: () => spawnBare({ ...call, args: ['-e', '0'] }),
    async close() {
      place.remove();
    },
  };
}

function writeHooks({ workspace }: TempWorkspace, names: readonly string[]): void {
  const directory = path.join(workspace, '.clinerules', 'hooks');
  mkdirSync(directory, { recursive: true });
  for (const name of names) {
    writeFileSync(path.join(directory, name), "#!/bin/sh\necho '{}'\n", { mode: 0o755 });
  }
}
