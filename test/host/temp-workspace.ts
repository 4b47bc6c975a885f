import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Surroundings } from '../../src/dialects/machine.ts';
import { createHost, type Host, type HostOptions } from '../../src/host/create-host.ts';
import { toTrustUnit } from '../../src/host/hook-set.ts';
import { bindUnit } from '../../src/trust/bind-unit.ts';
import { grantTrust } from '../../src/trust/trust-record.ts';
import { createDirectory, write } from '../base/directory.ts';

export const HOOKS = '.clinerules/hooks';

export interface TempWorkspace {
  readonly base: string;
  readonly home: string;
  readonly root: string;
  readonly surroundings: Surroundings;
}

/** A home directory and a workspace with these files, both empty otherwise. */
export function createTempWorkspace(
  files: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): TempWorkspace {
  const base = createDirectory({ 'home/.keep': '', 'ws/.keep': '' });
  for (const [name, text] of Object.entries(files)) write(path.join(base, name), text);
  const home = path.join(base, 'home');
  const root = path.join(base, 'ws');
  return {
    base,
    home,
    root,
    surroundings: {
      cwd: root,
      env: { PATH: process.env['PATH'], ...env },
      platform: process.platform,
      home,
      nodePath: process.execPath,
    },
  };
}

/** A host in these places, closed after the test. */
export async function hostIn(
  { surroundings, root }: TempWorkspace,
  options: HostOptions = {},
): Promise<Host> {
  const host = await createHost({ surroundings, roots: [root], ...options });
  onTestFinished(() => host.dispose());
  return host;
}

/** Trusts every hook of the workspace as it is now. */
export async function trustWorkspace(
  workspace: TempWorkspace,
  options: HostOptions = {},
): Promise<void> {
  const host = await hostIn(workspace, options);
  const bindings = host
    .hooks()
    .filter(({ hook }) => hook.place === 'workspace')
    .map(({ hook }) => bindUnit(toTrustUnit(hook)));
  await grantTrust(host.trust.files!, bindings, { now: 0 });
}

/** The text of a node hook that answers this. */
export function answering(answer: object): string {
  return `process.stdin.resume().on('end', () => console.log(${JSON.stringify(JSON.stringify(answer))}));\n`;
}
