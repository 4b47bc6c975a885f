import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findDialect } from '../../src/dialects/index.ts';
import { createTempWorkspace, openHost, type TempWorkspace } from '../temp-workspace.ts';
import type { Contest, Row, RowOptions } from '../row.ts';

const ROOTS = 20;
const HOOKS_PER_ROOT = 10;

export const discoveryRows: readonly Row[] = [
  {
    name: `discovery of ${ROOTS * HOOKS_PER_ROOT} hooks in ${ROOTS} roots`,
    bound: { of: 'ms', atMost: 50, because: 'nobody waits for a session that opens this fast' },
    open: openDiscovery,
  },
];

async function openDiscovery({ quick }: RowOptions): Promise<Contest> {
  const place = createTempWorkspace();
  const roots = Array.from({ length: ROOTS }, (_, index) => writeRoot(place, index));
  const host = await openHost(place, { roots });
  const found = host.hooks().length;
  if (found !== ROOTS * HOOKS_PER_ROOT) throw new Error(`found ${found} hooks`);
  return {
    samples: quick ? 30 : 100,
    batch: 1,
    us: () => host.rescan(),
    async close() {
      await host.dispose();
      place.remove();
    },
  };
}

const SCRIPT = `#!/usr/bin/env bash
input=$(cat)
if [[ "$input" == *'"rm -rf /"'* ]]; then
  echo '{"cancel": true, "errorMessage": "not that"}'
  exit 0
fi
echo '{"cancel": false}'
`;

function writeRoot({ workspace }: TempWorkspace, index: number): string {
  const root = path.join(workspace, `package-${index}`);
  const directory = path.join(root, '.clinerules', 'hooks');
  mkdirSync(directory, { recursive: true });
  const names = findDialect('cline')?.events.names ?? [];
  for (const name of names.slice(0, HOOKS_PER_ROOT)) {
    writeFileSync(path.join(directory, name), SCRIPT, { mode: 0o755 });
  }
  return root;
}
