import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const isBuilt = existsSync('dist/bin/hookline.js');

test('what a consumer can import is a written list', () => {
  expect(manifest.exports).toEqual({
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './hooks': { types: './dist/hooks.d.ts', default: './dist/hooks.js' },
    './plugin': { types: './dist/plugin.d.ts', default: './dist/plugin.js' },
    './testing': { types: './dist/testing.d.ts', default: './dist/testing.js' },
    './schema/*': './schema/*',
    './package.json': './package.json',
  });
  expect(manifest.bin).toEqual({
    'claude-hook': 'dist/bin/claude-hook.js',
    'cline-hook': 'dist/bin/cline-hook.js',
    hookline: 'dist/bin/hookline.js',
  });
});

test('what a consumer must have is a written list', () => {
  expect(manifest.engines).toEqual({ node: '>=20.19.0' });
  expect(Object.keys(manifest.dependencies)).toEqual([
    'chokidar',
    'cross-spawn',
    'ignore',
    'jiti',
    'proper-lockfile',
    'tinyglobby',
    'ulid',
    'unbash',
    'write-file-atomic',
  ]);
  expect(Object.keys(manifest.optionalDependencies)).toEqual([
    '@ai-sdk/anthropic',
    '@ai-sdk/google',
    '@ai-sdk/openai',
    '@ai-sdk/openai-compatible',
    '@modelcontextprotocol/client',
    '@vscode/ripgrep',
    'ai',
    'es-module-lexer',
    'oxc-transform',
  ]);
});

test('the lock file has the builds of every tool for every platform', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const locked = new Set(Object.keys(packages).map((place) => place.split('node_modules/').at(-1)));
  const missing = Object.values<{ optionalDependencies?: object }>(packages)
    .flatMap((each) => Object.keys(each.optionalDependencies ?? {}))
    .filter((name) => !locked.has(name));
  expect(missing, 'npm run complete-lock mends this').toEqual([]);
});

test('installing the package runs nothing', () => {
  const hooks = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];
  expect(Object.keys(manifest.scripts).filter((name) => hooks.includes(name))).toEqual([]);
});

test.skipIf(!isBuilt)('the package holds what was built, and nothing else [after a build]', () => {
  const files = listPackedFiles();
  const [inDist, others] = partition(files, (file) => file.startsWith('dist/'));
  const [programs, library] = partition(inDist, (file) => file.startsWith('dist/bin/'));

  expect(others.filter((file) => !/^schema\/[a-z0-9./-]+\.(json|proto)$/.test(file))).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'package.json',
  ]);
  expect(programs).toContain('dist/bin/hookline.js');
  expect(programs).toContain('dist/bin/package.json');
  expect(programs.filter((file) => !/^dist\/bin\/([\w.-]+\.js|package\.json)$/.test(file))).toEqual(
    [],
  );
  const [copies, ownFiles] = partition(library, (file) => /^dist\/(?:packages|pdfjs)\//.test(file));
  expect(copies).toContain('dist/pdfjs/pdf.mjs');
  expect(copies).toContain('dist/packages/re2js.cjs');
  const declarations = ownFiles.filter((file) => file.endsWith('.d.ts'));
  expect(declarations).toContain('dist/hooks.d.ts');
  expect(ownFiles.filter((file) => !declarations.includes(file))).toEqual(
    ['dist/THIRD-PARTY-LICENSES.txt', ...listLibraryFiles()].toSorted(),
  );
});

test.skipIf(!isBuilt)('the program starts with Node on every system [after a build]', () => {
  const [firstLine, secondLine] = readFileSync('dist/bin/hookline.js', 'utf8').split('\n');
  expect(firstLine).toBe('#!/usr/bin/env node');
  expect(secondLine).not.toMatch(/^#!/);
});

test.skipIf(!isBuilt)('the starter reads its parts without decoding them [after a build]', () => {
  const parts = readdirSync('dist/bin').filter((name) => name.endsWith('.js'));
  const others = parts.filter((name) =>
    readFileSync(path.join('dist/bin', name)).some((byte) => byte > 0x7f),
  );
  expect(parts.length).toBeGreaterThan(10);
  expect(others).toEqual([]);
});

function listPackedFiles(): string[] {
  const isWindows = process.platform === 'win32';
  const output = execFileSync('npm', ['pack', '--dry-run', '--json'], {
    encoding: 'utf8',
    shell: isWindows,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [report] = JSON.parse(output);
  return report.files.map((file: { path: string }) => file.path).toSorted();
}

function listLibraryFiles(): string[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(path.sep).join('/'))
    .filter((file) => file.endsWith('.ts') && !/^(?:acp|cli)\//.test(file))
    .map((file) => `dist/${file.replace(/\.ts$/, '.js')}`);
}

function partition(
  files: readonly string[],
  isFirst: (file: string) => boolean,
): [string[], string[]] {
  return [files.filter(isFirst), files.filter((file) => !isFirst(file))];
}
