import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLazyClaim, findClaimAbove } from '../../src/trust/claims.ts';
import { resultOf } from '../cli/hookline.ts';
import { createDirectory } from './workspace.ts';

const FIXTURE = path.join(import.meta.dirname, 'fixtures/find-claim.ts');
const NODE = [process.execPath, '--import', 'jiti/register', FIXTURE];

function listClaims(state: string): readonly string[] {
  return readdirSync(path.join(state, 'claims'));
}

/**
 * What a command below this process finds; `wrapper` gets its words after its own. It leads a session of its own, because
 * tests may run in one whose leader has ended, where a claim counts that may be above.
 */
async function findBelow(state: string, wrapper: readonly string[] = []): Promise<unknown> {
  const [program, ...args] = [...wrapper, ...NODE, state];
  const cwd = path.resolve(import.meta.dirname, '../..');
  const child = spawn(program, args, { cwd, detached: true });
  const { stdout } = await resultOf(child);
  return JSON.parse(stdout);
}

async function startHolder(state: string): Promise<ChildProcessWithoutNullStreams> {
  const cwd = path.resolve(import.meta.dirname, '../..');
  const holder = spawn(NODE[0]!, [...NODE.slice(1), state, 'hold'], { cwd });
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  return holder;
}

describe('a claim', () => {
  it('is written once, found below, and gone when it is released', async () => {
    const state = path.join(createDirectory(), 'state');
    const claim = createLazyClaim(state);
    expect([claim.hold(), claim.hold()]).toEqual([null, null]);
    expect(listClaims(state)).toEqual([
      expect.stringMatching(new RegExp(`^claim-${process.pid}-\\d+-`)),
    ]);
    expect(await findBelow(state)).toBe(`process ${process.pid} runs it`);
    expect(await findBelow(createDirectory())).toBeNull();
    claim.release();
    expect(listClaims(state)).toEqual([]);
    expect(await findBelow(state)).toBeNull();
  });

  it('does not count for the process that holds it', () => {
    const state = createDirectory();
    const claim = createLazyClaim(state);
    claim.hold();
    expect(findClaimAbove(state)).toBeNull();
    claim.release();
  });

  it('of a process that ended, or of another one with the id of one above, does not count', async () => {
    const state = createDirectory({ 'claims/claim-999999999-1-aa': '' });
    writeFileSync(path.join(state, 'claims', `claim-${process.pid}-1-bb`), '');
    expect(await findBelow(state)).toBeNull();
    const claim = createLazyClaim(state);
    claim.hold();
    expect(listClaims(state)).toHaveLength(1);
    claim.release();
  });

  it('of a process in another process namespace is left', () => {
    const state = createDirectory({ 'claims/claim-1-1-n1-aa': '' });
    const claim = createLazyClaim(state);
    claim.hold();
    expect(listClaims(state)).toHaveLength(2);
    claim.release();
    expect(listClaims(state)).toEqual(['claim-1-1-n1-aa']);
  });

  it('of a process beside does not count', async () => {
    const state = createDirectory();
    const holder = await startHolder(state);
    expect(listClaims(state)).toHaveLength(1);
    expect(await findBelow(state)).toBeNull();
    holder.kill('SIGKILL');
    await resultOf(holder);
  });

  it('of a process beside counts where the leader of the session has ended', async () => {
    const state = createDirectory();
    const holder = await startHolder(state);
    const waitForLeader = '(while kill -0 $$ 2>/dev/null; do sleep 0.05; done; exec "$@") &';
    expect(await findBelow(state, ['sh', '-c', waitForLeader, 'sh'])).toBe(
      `process ${holder.pid} runs hooks, and whether it started this command cannot be told`,
    );
    holder.kill('SIGKILL');
    await resultOf(holder);
  });

  it('that cannot be written is reported, and nothing breaks', () => {
    const file = path.join(createDirectory({ file: '' }), 'file');
    const claim = createLazyClaim(path.join(file, 'state'));
    expect(claim.hold()).toContain('cannot be written, so trust commands inside hooks are');
    claim.release();
    expect(findClaimAbove(path.join(file, 'state'))).toBeNull();
    expect(createLazyClaim(null).hold()).toBeNull();
  });

  it('is found through hundreds of shells', async () => {
    const state = createDirectory();
    const claim = createLazyClaim(state);
    claim.hold();
    const nest =
      'n=$1; shift; if [ "$n" -gt 0 ]; then sh -c "$NEST" sh $((n-1)) "$@"; x=$?; exit $x; else "$@"; x=$?; exit $x; fi';
    const wrapper = ['env', `NEST=${nest}`, 'sh', '-c', nest, 'sh', '200'];
    expect(await findBelow(state, wrapper)).toBe(`process ${process.pid} runs it`);
    claim.release();
    expect(existsSync(state)).toBe(true);
  });
});
