#!/usr/bin/env node
'use strict';
const { spawnSync } = require('node:child_process');
const { existsSync, realpathSync } = require('node:fs');
const path = require('node:path');

const PROGRAM = path.join('dist', 'bin', 'hookline.js');
const USAGE =
  'Usage: agent-hooks <agent>-hook [--enable | --disable | --status] [--port <n>] [--dir <directory>]\n';

/** Finds Hookline: npm links this directory, which is a part of it; a copy looks for it beside the project. */
function findHookline() {
  const own = path.resolve(realpathSync(__dirname), '..', '..', PROGRAM);
  if (existsSync(own)) return own;
  for (let directory = process.cwd(); ; directory = path.dirname(directory)) {
    const installed = path.join(directory, 'node_modules', 'hookline', PROGRAM);
    if (existsSync(installed)) return installed;
    if (path.dirname(directory) === directory) return null;
  }
}

function run(file, args) {
  const { status, error } = spawnSync(file, args, { stdio: 'inherit' });
  if (error === undefined) return status ?? 1;
  process.stderr.write(
    `agent-hooks: Hookline was not found (${error.message})\n  Install it: npm install -g hookline\n`,
  );
  return 1;
}

const words = process.argv.slice(2);
if (!/^[a-z]+-hook$/.test(words[0] ?? '')) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  const program = findHookline();
  process.exitCode =
    program === null ? run('hookline', words) : run(process.execPath, [program, ...words]);
}
