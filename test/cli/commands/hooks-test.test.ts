import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from '../hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  HOOKS,
  PRE_TOOL_USE,
  trust,
  write,
} from '../temp-workspace.ts';

const FIRE = { event: 'PreToolUse', tool: 'write_to_file', input: { path: 'a.js', content: 'x' } };
const FLAGS = ['--tool', 'write_to_file', '--input', '{"path":"a.js","content":"x"}'];
const GUARD = { [`${HOOKS}/PreToolUse`]: answering({ cancel: true, errorMessage: 'no' }) };

function caseFile(fields: object): string {
  return JSON.stringify(fields);
}

describe('hooks test', () => {
  it('runs every case of the usual directory against the real hooks, and counts them', async () => {
    const workspace = createTempWorkspace({
      ...GUARD,
      'hook-tests/a-denied/case.json': caseFile({
        about: 'no js',
        fire: FIRE,
        expect: { effect: 'deny' },
      }),
      'hook-tests/b-wrong/case.json': caseFile({
        fire: FIRE,
        expect: { effect: 'pass', reasons: [] },
      }),
      'hook-tests/c-skipped/case.json': caseFile({
        fire: FIRE,
        needs: ['no-such-program'],
        expect: { effect: 'deny' },
      }),
    });
    trust(workspace);
    const { code, stdout } = await runHookline(['hooks', 'test'], at(workspace));
    expect(stdout.replaceAll(/ \d[\d.]* m?s$/gmu, '')).toBe(
      [
        '✓ a-denied no js',
        '✗ b-wrong',
        '    effect: expected "pass", found "deny"',
        '    reasons: expected [], found [{"hook":"cline:workspace:PreToolUse","text":"no"}]',
        '- c-skipped skipped: needs no-such-program',
        '1 passed, 1 failed, 1 skipped: needs no-such-program',
        '',
      ].join('\n'),
    );
    expect(code).toBe(1);
  });

  it('prints JSON, and exits 0 when all is well', async () => {
    const workspace = createTempWorkspace({
      ...GUARD,
      'mine/denied/case.json': caseFile({ fire: FIRE, expect: { effect: 'deny' } }),
    });
    trust(workspace);
    const result = await runHookline(['hooks', 'test', 'mine', '--json'], at(workspace));
    expect(result.code).toBe(0);
    expect(jsonOf(result)).toEqual({
      passed: 1,
      failed: 0,
      skipped: 0,
      cases: [
        {
          name: 'denied',
          about: null,
          directory: path.join(workspace.repo, 'mine', 'denied'),
          passed: true,
          differences: [],
          skipped: null,
          durationMs: expect.any(Number),
        },
      ],
    });
  });

  it('counts skipped cases as failed under --strict', async () => {
    const workspace = createTempWorkspace({
      'hook-tests/a/case.json': caseFile({
        fire: FIRE,
        needs: ['no-such-program'],
        expect: { effect: 'deny' },
      }),
    });
    const [plain, strict] = await Promise.all([
      runHookline(['hooks', 'test'], at(workspace)),
      runHookline(['hooks', 'test', '--strict'], at(workspace)),
    ]);
    expect([plain.code, strict.code]).toEqual([0, 1]);
  });

  it('fails a case whose hooks are untrusted, and runs it once they are trusted', async () => {
    const caseWorkspace = createTempWorkspace({
      'hook-tests/own/case.json': caseFile({ fire: FIRE, expect: { effect: 'deny' } }),
      [`hook-tests/own/workspace/${HOOKS}/PreToolUse`]: answering({ cancel: true }),
    });
    const workspace = path.join(caseWorkspace.repo, 'hook-tests', 'own', 'workspace');
    const untrusted = await runHookline(['hooks', 'test'], at(caseWorkspace));
    expect(untrusted).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`hookline trust --root ${workspace}`),
    });
    trust(caseWorkspace, ['--root', workspace]);
    expect(await runHookline(['hooks', 'test'], at(caseWorkspace))).toMatchObject({ code: 0 });
  });

  it('goes on after a case that cannot be read', async () => {
    const workspace = createTempWorkspace({
      ...GUARD,
      'hook-tests/a/case.json': '{"fire": {}, "expct": 1}',
      'hook-tests/b/case.json': caseFile({ fire: FIRE, expect: { effect: 'deny' } }),
    });
    trust(workspace);
    const { code, stdout } = await runHookline(['hooks', 'test'], at(workspace));
    expect(code).toBe(1);
    expect(stdout).toContain('unknown field \\"expct\\"');
    expect(stdout).toContain('1 passed, 1 failed');
  });

  it.each([
    ['no usual directory', ['hooks', 'test']],
    ['an empty directory', ['hooks', 'test', '.clinerules']],
  ])('says how a case looks when there is none: %s', async (_, args) => {
    const { code, stdout, stderr } = await runHookline(args, at(createTempWorkspace(GUARD)));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('no test cases found');
    expect(stderr).toContain('"expect": { "effect": "deny" }');
  });
});

describe('hooks test --record', () => {
  it('fires the event, writes a case that passes, and does not replace it unasked', async () => {
    const workspace = createTempWorkspace(GUARD);
    trust(workspace);
    const record = ['hooks', 'test', 'hook-tests/no-js', '--record', 'PreToolUse', ...FLAGS];
    const file = path.join(workspace.repo, 'hook-tests', 'no-js', 'case.json');
    expect(await runHookline(record, at(workspace))).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      fire: FIRE,
      expect: {
        effect: 'deny',
        reasons: ['no'],
        context: [],
        outcomes: [{ hook: PRE_TOOL_USE, status: 'decided', effect: 'deny' }],
      },
    });
    expect(await runHookline(['hooks', 'test'], at(workspace))).toMatchObject({ code: 0 });
    const again = await runHookline(record, at(workspace));
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') });
    expect(await runHookline([...record, '--force'], at(workspace))).toMatchObject({ code: 0 });
  });

  it('records nothing when hooks are not trusted', async () => {
    const workspace = createTempWorkspace(GUARD);
    const { code, stderr } = await runHookline(
      ['hooks', 'test', 'hook-tests/x', '--record', 'PreToolUse'],
      at(workspace),
    );
    expect(code).toBe(2);
    expect(stderr).toContain('would prove nothing');
    expect(existsSync(path.join(workspace.repo, 'hook-tests'))).toBe(false);
  });

  it('needs a directory', async () => {
    const { code, stderr } = await runHookline(
      ['hooks', 'test', '--record', 'PreToolUse'],
      at(createTempWorkspace()),
    );
    expect(code).toBe(2);
    expect(stderr).toContain('missing case directory');
  });
});

describe('hooks test --record-trace', () => {
  it('makes a case of the last event in the trace', async () => {
    const workspace = createTempWorkspace(GUARD);
    trust(workspace);
    await runHookline(['hooks', 'fire', 'PreToolUse', ...FLAGS], at(workspace));
    const result = await runHookline(
      ['hooks', 'test', 'hook-tests/last', '--record-trace', 'last', '--json'],
      at(workspace),
    );
    expect(result.code).toBe(0);
    expect(jsonOf(result)).toEqual({
      file: path.join(workspace.repo, 'hook-tests', 'last', 'case.json'),
      effect: 'deny',
    });
    expect(await runHookline(['hooks', 'test'], at(workspace))).toMatchObject({ code: 0 });
  });

  it('says that an event was cut', async () => {
    const workspace = createTempWorkspace(GUARD);
    trust(workspace);
    const facts = write(
      workspace.directory,
      'facts.json',
      JSON.stringify({ tool: { name: 'Write', input: { content: 'x'.repeat(20_000) } } }),
    );
    await runHookline(['hooks', 'fire', 'PreToolUse', '--facts', facts], at(workspace));
    const { code, stderr } = await runHookline(
      ['hooks', 'test', 'x', '--record-trace', 'last'],
      at(workspace),
    );
    expect(code).toBe(2);
    expect(stderr).toContain('does not hold the whole event');
  });
});
