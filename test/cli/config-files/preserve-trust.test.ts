import { symlinkSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPrinter } from '../../../src/cli/output/print.ts';
import {
  type PreservedTrust,
  formatTrustNotes,
  preserveTrust,
} from '../../../src/cli/config-files/preserve-trust.ts';
import {
  createTempWorkspace,
  openWorkspaceHost,
  statesOf,
  type TempWorkspace,
  trustWorkspaceHooks,
  write,
} from '../../dialects/template-fixture.ts';

const HOOK = '#!/usr/bin/env node\nconsole.log("{}");\n';

let workspace: TempWorkspace;

beforeEach(async () => {
  workspace = createTempWorkspace();
  write(hookFile('PostToolUse'), HOOK, 0o755);
  write(hookFile('PreToolUse'), HOOK, 0o755);
});

afterEach(() => workspace.remove());

function hookFile(name: string): string {
  return path.join(workspace.root, '.clinerules', 'hooks', name);
}

async function change(apply: () => void): Promise<unknown> {
  const host = await openWorkspaceHost(workspace);
  const preserved = await preserveTrust({ print: createPrinter({}, () => undefined) }, host, apply);
  await host.dispose();
  return describePreserved(preserved);
}

function describePreserved(preserved: PreservedTrust): unknown {
  return {
    trusted: preserved.trusted.map(({ id }) => id),
    lost: preserved.lost.map(({ id }) => id),
    notes: formatTrustNotes(preserved),
  };
}

describe('withKeptTrust', () => {
  it('keeps the trust of the neighbours of a hook that is deleted', async () => {
    await trustWorkspaceHooks(workspace);
    const preserved = await change(() => unlinkSync(hookFile('PreToolUse')));
    expect(preserved).toEqual({ trusted: ['cline:workspace:PostToolUse'], lost: [], notes: [] });
    expect(await statesOf(workspace)).toEqual({ 'cline:workspace:PostToolUse': 'ready' });
  });

  it('keeps it also when the deleted hook was a link', async () => {
    write(path.join(workspace.root, 'tools', 'guard.mjs'), HOOK);
    symlinkSync('../../tools/guard.mjs', hookFile('TaskStart'));
    await trustWorkspaceHooks(workspace);
    await change(() => unlinkSync(hookFile('TaskStart')));
    expect(await statesOf(workspace)).toEqual({
      'cline:workspace:PostToolUse': 'ready',
      'cline:workspace:PreToolUse': 'ready',
    });
  });

  it('trusts nothing that was not trusted before', async () => {
    await trustWorkspaceHooks(workspace, ['cline:workspace:PreToolUse']);
    const preserved = await change(() => unlinkSync(hookFile('PreToolUse')));
    expect(preserved).toEqual({ trusted: [], lost: [], notes: [] });
    expect(await statesOf(workspace)).toEqual({ 'cline:workspace:PostToolUse': 'untrusted' });
  });

  it('does not trust a file that another process changed at the same time', async () => {
    await trustWorkspaceHooks(workspace);
    const preserved = await change(() => {
      unlinkSync(hookFile('PreToolUse'));
      write(hookFile('PostToolUse'), `${HOOK}// smuggled in\n`, 0o755);
    });
    expect(preserved).toEqual({
      trusted: [],
      lost: ['cline:workspace:PostToolUse'],
      notes: ['not trusted: cline:workspace:PostToolUse: other files changed as well'],
    });
    expect(await statesOf(workspace)).toEqual({ 'cline:workspace:PostToolUse': 'modified' });
  });

  it('does not trust a file that appeared at the same time', async () => {
    await trustWorkspaceHooks(workspace);
    await change(() => {
      unlinkSync(hookFile('PreToolUse'));
      write(hookFile('TaskStart'), HOOK, 0o755);
    });
    expect(await statesOf(workspace)).toEqual({
      'cline:workspace:PostToolUse': 'modified',
      'cline:workspace:TaskStart': 'untrusted',
    });
  });

  it('leaves the record alone when nothing that is trusted changed', async () => {
    await trustWorkspaceHooks(workspace);
    const preserved = await change(() => write(path.join(workspace.root, 'elsewhere'), ''));
    expect(preserved).toEqual({ trusted: [], lost: [], notes: [] });
    expect(await statesOf(workspace)).toEqual({
      'cline:workspace:PostToolUse': 'ready',
      'cline:workspace:PreToolUse': 'ready',
    });
  });

  it('lets a failing change through, with trust as it was', async () => {
    await trustWorkspaceHooks(workspace);
    await expect(change(() => unlinkSync(hookFile('Nothing')))).rejects.toThrow('ENOENT');
    expect(await statesOf(workspace)).toEqual({
      'cline:workspace:PostToolUse': 'ready',
      'cline:workspace:PreToolUse': 'ready',
    });
  });
});
