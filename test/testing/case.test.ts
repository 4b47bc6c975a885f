import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCases, readCase } from '../../src/testing/case.ts';
import { createCase, createDirectory } from './case-fixture.ts';

const FIRE = { event: 'PreToolUse' };
const EXPECT = { effect: 'pass' };

describe('readCase', () => {
  it('reads all fields of a case', () => {
    const directory = createCase(
      {
        about: 'a sentence',
        fire: { event: 'PostToolUse', tool: 'Bash', input: {}, result: 'x', success: true },
        settings: { 'hooks.timeoutMs': '500', 'hooks.onFailure': 'block' },
        env: { TEST_A: 'b' },
        needs: ['jq'],
        expect: { reasons: ['no', { includes: 'x' }, { hook: 'h' }], effect: 'deny' },
      },
      { 'roots/b/x': '', 'roots/a/x': '', 'home/x': '', 'notes.md': 'notes' },
    );
    expect(readCase(directory)).toEqual({
      directory,
      name: path.basename(directory),
      about: 'a sentence',
      fire: { event: 'PostToolUse', tool: 'Bash', input: {}, result: 'x', success: true },
      settings: { 'hooks.timeoutMs': 500, 'hooks.onFailure': 'block' },
      env: { TEST_A: 'b' },
      needs: ['jq'],
      expect: {
        reasons: [{ text: 'no' }, { text: { includes: 'x' } }, { hook: 'h' }],
        effect: 'deny',
      },
      own: {
        roots: [
          { name: 'a', path: path.join(directory, 'roots', 'a') },
          { name: 'b', path: path.join(directory, 'roots', 'b') },
        ],
        home: path.join(directory, 'home'),
      },
    });
  });

  it('reads a case without directories as one about the real workspace', () => {
    expect(readCase(createCase({ fire: FIRE, expect: EXPECT }))).toMatchObject({
      about: null,
      settings: {},
      env: {},
      needs: [],
      own: null,
    });
  });

  it('reads a case with nothing but a home as one with an empty workspace', () => {
    const directory = createCase({ fire: FIRE, expect: EXPECT }, { 'home/x': '' });
    expect(readCase(directory).own).toEqual({ roots: [], home: path.join(directory, 'home') });
  });

  it.each([
    [[], 'should be an object, found array', undefined],
    [{ expect: EXPECT }, 'fire: should be an object, found nothing', undefined],
    [{ fire: FIRE }, 'expect: should be an object, found nothing', undefined],
    [
      { fire: FIRE, expect: {} },
      'expect: it expects nothing, so the case would always pass',
      undefined,
    ],
    [{ fire: FIRE, expct: EXPECT }, 'unknown field "expct"', 'Did you mean "expect"?'],
    [
      { fire: { evnt: 'x' }, expect: EXPECT },
      'fire: unknown field "evnt"',
      'Did you mean "event"?',
    ],
    [
      { fire: { event: 'PreTolUse' }, expect: EXPECT },
      'fire: event "PreTolUse" not found',
      'Did you mean PreToolUse?',
    ],
    [
      { fire: { event: 5 }, expect: EXPECT },
      'fire.event: should be a text, found number',
      undefined,
    ],
    [
      { fire: { ...FIRE, success: 'no' }, expect: EXPECT },
      'fire.success: should be true or false, found string',
      undefined,
    ],
    [
      { fire: { payload: {}, event: 'x' }, expect: EXPECT },
      'fire: unknown field "event"',
      'Known fields: payload, as.',
    ],
    [
      { fire: { payload: { hookName: 'nonsense' } }, expect: EXPECT },
      'fire: not a payload of a Cline hook: "hookName" should name a Cline hook, found "nonsense"',
      'A Cline payload is one JSON object with "hookName" and the data of that hook.',
    ],
    [
      { fire: { payload: {}, as: 'nobody' }, expect: EXPECT },
      'fire: payloads of "nobody" cannot be read; known are: cline, claude',
      'Say --as cline or --as claude.',
    ],
    [
      { fire: FIRE, expect: { efect: 'deny' } },
      'expect: unknown field "efect"',
      'Did you mean "effect"?',
    ],
    [
      { fire: FIRE, expect: { outcomes: [{ statu: 1 }] } },
      'expect.outcomes: unknown field "statu"',
      'Did you mean "status"?',
    ],
    [
      { fire: FIRE, expect: { reasons: [{ includes: 5 }] } },
      'expect.reasons[0]: "includes" should be a text or an array of texts, found number',
      undefined,
    ],
    [
      { fire: FIRE, expect: EXPECT, settings: { 'hooks.timeout': 1 } },
      'settings: unknown field "hooks.timeout"',
      'Did you mean "hooks.timeoutMs"?',
    ],
    [
      { fire: FIRE, expect: EXPECT, settings: { 'hooks.timeoutMs': 0 } },
      'settings.hooks.timeoutMs: should be a number above 0, found number',
      undefined,
    ],
    [
      { fire: FIRE, expect: EXPECT, settings: { 'env.pass': ['X'] } },
      'settings: "env.pass" cannot be set by a case',
      undefined,
    ],
    [
      { fire: FIRE, expect: EXPECT, env: { A: 1 } },
      'env.A: should be a text, found number',
      undefined,
    ],
    [
      { fire: FIRE, expect: EXPECT, needs: 'jq' },
      'needs: should be an array of program names, found string',
      undefined,
    ],
    [
      { fire: FIRE, expect: EXPECT, needs: [1] },
      'needs[0]: should be a text, found number',
      undefined,
    ],
  ])('refuses %j', (fields, problem, hint) => {
    const directory = createCase(fields);
    expect(() => readCase(directory)).toThrow(
      expect.objectContaining({
        code: 'CASE_INVALID',
        message: `${path.join(directory, 'case.json')}: ${problem}`,
        hint,
      }),
    );
  });

  it('names the position where text is no JSON', () => {
    const directory = createDirectory({ 'case.json': '{"fire": }' });
    expect(() => readCase(directory)).toThrow(
      /case\.json: it is not JSON: line 1, column 10: missing value after the colon/u,
    );
  });

  it('says that a case.json is missing', () => {
    expect(() => readCase(createDirectory())).toThrow(/case\.json: file not found/u);
  });

  it('refuses an unknown directory, so that no misspelling tests the wrong hooks', () => {
    const directory = createCase({ fire: FIRE, expect: EXPECT }, { 'worksapce/x': '' });
    expect(() => readCase(directory)).toThrow(
      expect.objectContaining({ hint: 'Expected: workspace.' }),
    );
  });

  it('refuses a workspace beside roots', () => {
    const files = { 'workspace/x': '', 'roots/a/x': '' };
    const directory = createCase({ fire: FIRE, expect: EXPECT }, files);
    expect(() => readCase(directory)).toThrow(/both "workspace" and "roots"/u);
  });
});

describe('findCases', () => {
  it('finds cases at any depth, sorted, and searches no case and no package', () => {
    const directory = createDirectory({
      'b/case.json': '',
      'b/workspace/case.json': '',
      'a/deeper/case.json': '',
      'node_modules/x/case.json': '',
      'c/readme.md': '',
    });
    expect(findCases(directory)).toEqual([
      path.join(directory, 'a', 'deeper'),
      path.join(directory, 'b'),
    ]);
  });

  it('accepts a case directory itself', () => {
    const directory = createDirectory({ 'case.json': '' });
    expect(findCases(directory)).toEqual([directory]);
  });

  it('finds nothing in an empty directory, and does not follow links in circles', () => {
    const directory = createDirectory({ 'a/x': '' });
    symlinkSync(directory, path.join(directory, 'a', 'loop'));
    expect(findCases(directory)).toEqual([]);
    expect(findCases(path.join(directory, 'gone'))).toEqual([]);
  });
});
