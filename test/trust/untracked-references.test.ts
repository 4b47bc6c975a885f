import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrustUnit } from '../../src/trust/collect-unit.ts';
import { findUntrackedReferences } from '../../src/trust/untracked-references.ts';
import { createDirectory, GUARD, HOOKS, unitOf } from './workspace.ts';

function createRoot(): string {
  return createDirectory({
    [GUARD]: '',
    [`${HOOKS}/lib.sh`]: '',
    [`${HOOKS}/vendor/.git/config`]: '',
    'scripts/check.py': '',
    'scripts/with space.sh': '',
    'src/rules.js': '',
    'package.json': '',
    Makefile: '',
  });
}

function mentions(text: string): readonly string[] {
  const found = findUntrackedReferences(unitOf(createRoot()), text);
  return found.map(({ kind, name }) => `${kind} ${name}`);
}

describe('unboundMentions', () => {
  it.each([
    ['python3 scripts/check.py --fast', 'scripts/check.py'],
    ['out=$(python3 ./scripts/check.py)', 'scripts/check.py'],
    ['. "$CLAUDE_PROJECT_DIR"/scripts/check.py', 'scripts/check.py'],
    ['"${CLAUDE_PROJECT_DIR:-.}/scripts/check.py"', 'scripts/check.py'],
    ['source "$(dirname "$0")/../../scripts/check.py"', 'scripts/check.py'],
    ['D="$(cd "$(dirname "$0")" && pwd)/../../scripts/check.py"', 'scripts/check.py'],
    ['source "$ROOT/scripts/with space.sh"', 'scripts/with space.sh'],
    [`import rules from '../../src/rules.js'`, 'src/rules.js'],
    [`require("../../src/rules")`, 'src/rules.js'],
    [`path.join(__dirname, '..', '..', 'src', 'rules.js')`, 'src/rules.js'],
    [`Path(__file__).parent / '..' / '..' / 'scripts' / 'check.py'`, 'scripts/check.py'],
    [`readFileSync('package.json')`, 'package.json'],
    [`cat "Makefile"`, 'Makefile'],
    [`. "$(dirname "$0")/vendor/.git/config"`, `${HOOKS}/vendor/.git/config`],
  ])('finds the workspace file in %s', (text, file) => {
    expect(mentions(text)).toContain(`file ${file}`);
  });

  it.each([
    'source "$(dirname "$0")/lib.sh"',
    `cat ${GUARD}`,
    'cat scripts/absent.py',
    'cd scripts',
    'cat /etc/passwd ../../../../../../etc/passwd',
    '#!/usr/bin/env bash',
  ])('lists nothing of %s, which is bound, absent, a directory or elsewhere', (text) => {
    expect(mentions(text)).toEqual([]);
  });

  it.each([
    ['npm run lint', 'npm run lint'],
    ['if ! npm --silent run lint:fix 2>&1 | tail; then', 'npm run lint:fix'],
    ['result=$(npx --no-install eslint .)', 'npx eslint'],
    [`spawnSync('npm', ['run', 'lint'])`, 'npm run lint'],
    [`execSync("pnpm exec tsc --noEmit")`, 'pnpm exec tsc'],
    ['timeout 30 yarn test && echo ok', 'yarn test'],
    ['uv run ruff check', 'uv run ruff'],
    ['cargo clippy', 'cargo clippy'],
    ['cd sub; make check', 'make check'],
    ['make', 'make'],
  ])('names the runner in %s', (text, runner) => {
    expect(mentions(text)).toEqual([`runner ${runner}`]);
  });

  it.each([
    'echo npm run lint | sh',
    'echo "npm run lint" > x.sh; sh x.sh',
    'echo "$(npm run lint)"',
    'echo ok; npm run lint',
    'echo ok && npm run lint',
  ])('still finds the command in %s', (text) => {
    expect(mentions(text)).toEqual(['runner npm run lint']);
  });

  it.each([
    'echo Use pnpm here.',
    'echo "then npm test" >&2; exit 0',
    "if x; then printf 'npx y'; fi",
  ])('does not read text that is only printed as a command: %s', (text) => {
    expect(mentions(text)).toEqual([]);
  });

  it.each([
    '# npm run lint',
    '// make it so',
    'echo "Please make sure"',
    'echo where to go',
    `echo '{"cancel": true, "errorMessage": "bun is not on PATH"}'`,
    'if ! command -v bun >/dev/null 2>&1; then',
  ])('does not take %s for a runner', (text) => {
    expect(mentions(text)).toEqual([]);
  });

  describe('a module that is resolved by its name', () => {
    const inFile = (name: string, text: string): readonly string[] => {
      const root = createDirectory({ [`${HOOKS}/${name}`]: text });
      const unit = unitOf(root, { entry: path.join(root, HOOKS, name) });
      return findUntrackedReferences(unit, text).map((found) => `${found.kind} ${found.name}`);
    };

    it.each([
      [`import evil from "evil";`, 'evil'],
      [`import 'evil/setup';`, 'evil/setup'],
      ['import {\n  one,\n  two,\n} from "@scope/evil";', '@scope/evil'],
      [`export * from 'evil';`, 'evil'],
      [`const evil = require ( 'evil' );`, 'evil'],
      ['await import(`evil`)', 'evil'],
      [`require.resolve('evil')`, 'evil'],
      [`import inner from '#inner';`, '#inner'],
      [`import 'https://evil.example/x.js'`, 'https://evil.example/x.js'],
    ])('is named in %s', (text, name) => {
      expect(inFile('PreToolUse.mjs', text)).toEqual([`package ${name}`]);
    });

    it.each([
      `import fs from 'node:fs'; const path = require('path'); import 'fs/promises';`,
      `import './own.js'; require('../own'); import('/own.js'); require('.');`,
      `// import evil from 'evil'`,
      ` * import evil from 'evil'`,
      `import 'bun:test'`,
    ])('is not seen in %s', (text) => {
      expect(inFile('PreToolUse.ts', text)).toEqual([]);
    });

    it.each(['#!/usr/bin/env node', '#!/usr/bin/env -S bun run', '#!/opt/node/bin/node'])(
      'is named in a script that begins with %s',
      (line) => {
        expect(inFile('PreToolUse', `${line}\nrequire('evil')\n`)).toEqual(['package evil']);
      },
    );

    it.each(['#!/bin/sh', '#!/usr/bin/env python3'])(
      'is not looked for in a script that begins with %s',
      (line) => {
        expect(inFile('PreToolUse', `${line}\necho 'from "evil"'\n`)).toEqual([]);
      },
    );
  });

  it('knows that the directory behind a linked hook is bound', () => {
    const root = createDirectory({
      'scripts/guard.sh': '',
      'scripts/lib.sh': '',
      'other/x.sh': '',
    });
    mkdirSync(path.join(root, HOOKS), { recursive: true });
    symlinkSync('../../scripts/guard.sh', path.join(root, GUARD));
    const text = '. "$D/lib.sh"; . "$D/../other/x.sh"; . scripts/lib.sh';
    expect(findUntrackedReferences(unitOf(root), text)).toEqual([
      { kind: 'file', name: 'other/x.sh' },
    ]);
  });

  it('counts the files that the unit names as bound, but not the file of a config entry', () => {
    const root = createDirectory({ 's/settings.json': '', 's/a.sh': '', 's/b.sh': '' });
    const unit = unitOf(root, {
      entry: path.join(root, 's/settings.json'),
      text: 'cat s/a.sh s/b.sh s/settings.json',
      files: [path.join(root, 's/a.sh')],
      directories: [],
    });
    expect(findUntrackedReferences(unit, unit.text ?? '')).toEqual([
      { kind: 'file', name: 's/b.sh' },
      { kind: 'file', name: 's/settings.json' },
    ]);
  });

  describe('a directory, or a pattern for what is in one', () => {
    const inEntry = (
      handler: Readonly<Record<string, unknown>>,
      changes: Partial<TrustUnit> = {},
    ): readonly string[] => {
      const root = createDirectory({
        '.claude/settings.json': '',
        'tools/a.sh': '',
        'tools/deep/b.sh': '',
      });
      const unit = unitOf(root, {
        entry: path.join(root, '.claude/settings.json'),
        text: JSON.stringify({ event: 'Stop', handler, matcher: '', source: 'project' }),
        files: [path.join(root, 'tools')],
        directories: [],
        ...changes,
      });
      return findUntrackedReferences(unit, unit.text ?? '').map(
        ({ kind, name }) => `${kind} ${name}`,
      );
    };

    it.each([
      ['find tools -exec sh {} \\;', 'tools/'],
      ['find "$CLAUDE_PROJECT_DIR"/tools -type f | xargs -n1 sh', 'tools/'],
      ['cd sub; ls tools/deep | xargs sh', 'tools/deep/'],
      ['git ls-files tools | xargs -n1 sh', 'tools/'],
      ['run-parts ./tools', 'tools/'],
      ['run-parts --regex=x tools/', 'tools/'],
      ["bash -c 'find tools -exec sh {} +'", 'tools/'],
      ['for f in tools/*.sh; do sh $f; done', 'tools/*.sh'],
      ['for f in "$CLAUDE_PROJECT_DIR"/tools/*.sh\ndo . "$f"\ndone', 'tools/*.sh'],
      ['for d in tools; do sh $d/a.sh; done', 'tools/'],
      ['cat tools/*/{b,c}.sh | sh', 'tools/*/{b,c}.sh'],
      ['sh tools/?.sh', 'tools/?.sh'],
      ['python3 tools/deep', 'tools/deep/'],
      ['node --import=./tools/deep x', 'tools/deep/'],
      ['for f in *.sh; do sh $f; done', '*.sh'],
    ])('is named in the entry %j', (command, name) => {
      expect(inEntry({ type: 'command', command })).toContain(`directory ${name}`);
    });

    it.each([
      'cd tools && true',
      'cd "$CLAUDE_PROJECT_DIR"/tools/deep',
      'mkdir -p tools/deep',
      'find . -name x',
      'find absent -exec sh {} +',
      'cat absent/*.sh',
      'ls /etc ../*.sh',
      'echo look for tools',
      'npm_config_x=1 true tools',
      `python3 -c "sys.exit(2) if any(x in p for x in ['.env','.git/']) else 0"`,
      '[[ $f == */tools/*.py ]] && true',
    ])('is not seen in the entry %j', (command) => {
      expect(inEntry({ type: 'command', command })).toEqual([]);
    });

    it.each([
      { type: 'http', url: 'http://localhost:4000/tools' },
      { type: 'prompt', prompt: 'Is tools/a.sh safe? Run make lint.' },
      { type: 'mcp_tool', server: 's', tool: 't', input: { path: 'tools/a.sh' } },
    ])('is not seen in %j, which runs nothing', (handler) => {
      expect(inEntry(handler)).toEqual([]);
    });

    it('is not searched in the matcher of an entry, but in the variables that go with it', () => {
      const text = JSON.stringify({
        event: 'FileChanged',
        matcher: 'tools/a.sh',
        handler: { type: 'command', command: 'true' },
        environment: { NODE_OPTIONS: '--require ./tools/deep/b.sh' },
      });
      expect(inEntry({}, { text })).toEqual(['file tools/deep/b.sh']);
    });

    it('is named in arguments', () => {
      expect(inEntry({ command: 'find', args: ['tools', '-exec', 'sh', '{}', '+'] })).toEqual([
        'directory tools/',
      ]);
    });

    it('is not named when it is bound', () => {
      const root = createDirectory({ 'tools/deep/b.sh': '', 's.json': '' });
      const found = inEntry(
        { command: 'run-parts tools; sh tools/deep/*.sh' },
        { root, entry: path.join(root, 's.json'), directories: [path.join(root, 'tools')] },
      );
      expect(found).toEqual([]);
    });

    it.each([
      ['for f in scripts/*.py; do python3 "$f"; done', ['directory scripts/*.py']],
      ['if true; then run-parts scripts; fi', ['directory scripts/']],
      ['for f in "$(dirname "$0")"/*.sh; do . "$f"; done', []],
      ['case "$file" in src/*) exit 1 ;; esac', []],
      ['[ -d src ] && mkdir -p src/', []],
    ])('in the script %j: %j', (text, expected) => {
      expect(mentions(text)).toEqual(expected);
    });

    it.each([
      [{ command: 'make' }, 'make'],
      [{ command: 'make lint', timeout: 5 }, 'make lint'],
      [{ command: 'CI=1 make lint' }, 'make lint'],
      [{ command: "bash -c 'make lint'" }, 'make lint'],
      [{ command: 'cd x && make -s lint' }, 'make lint'],
      [{ command: 'make', args: ['lint'] }, 'make lint'],
      [{ command: 'go generate ./...' }, 'go generate'],
      [{ command: 'npm', timeout: 5 }, 'npm'],
      [{ command: 'npm run lint', statusMessage: 'make it so' }, 'npm run lint'],
    ])('the runner in the entry %j', (handler, runner) => {
      expect(inEntry({ type: 'command', ...handler })).toEqual([`runner ${runner}`]);
    });
  });

  it('stops at 50 findings, and at 256 KiB, with a note', () => {
    const names = Array.from({ length: 60 }, (_, index) => `f${index}.sh`);
    const root = createDirectory(Object.fromEntries([GUARD, ...names].map((name) => [name, ''])));
    const rest = { kind: 'rest', name: 'more than is scanned' };
    const many = findUntrackedReferences(unitOf(root), names.join('\n'));
    expect([many.length, many.at(-1)]).toEqual([50, rest]);
    const late = `${' '.repeat(256 * 1024)}f1.sh`;
    expect(findUntrackedReferences(unitOf(root), late)).toEqual([rest]);
  });

  it('accepts any text', () => {
    const unit = unitOf(createRoot());
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(findUntrackedReferences(unit, text).length).toBeLessThanOrEqual(50);
      }),
    );
  });

  it.each(['"', `'"`, '$(', '${', 'a/', '../', '"a",', 'npm ', '%', 'from ', 'from "a"'])(
    'gets through 256 KiB of %s',
    (piece) => {
      const text = piece.repeat(Math.floor((256 * 1024) / piece.length));
      expect(findUntrackedReferences(unitOf(createRoot()), text).length).toBeLessThanOrEqual(50);
    },
  );
});
