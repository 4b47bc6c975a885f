import { deepEqual } from 'node:assert/strict';
import { copyWorkspace, hookline } from '../run-hookline.ts';

const place = copyWorkspace(import.meta.dirname);
hookline(place, ['trust', '--yes']);

deepEqual(fire('write_to_file', { path: 'a.js', content: 'x' }), {
  status: 1,
  effect: 'deny',
  reasons: ['Cannot create .js files in TypeScript project'],
});
deepEqual(fire('write_to_file', { path: 'a.ts', content: 'x' }), {
  status: 0,
  effect: 'pass',
  reasons: [],
});
deepEqual(fire('Write', { file_path: 'a.js', content: 'x' }), {
  status: 1,
  effect: 'deny',
  reasons: ['Cannot create .js files in TypeScript project'],
});

function fire(tool: string, input: object): { status: number; effect: string; reasons: string[] } {
  const args = ['--tool', tool, '--input', JSON.stringify(input), '--json'];
  const { status, stdout } = hookline(place, ['hooks', 'fire', 'PreToolUse', ...args]);
  const verdict: { effect: string; reasons: { text: string }[] } = JSON.parse(stdout);
  return { status, effect: verdict.effect, reasons: verdict.reasons.map(({ text }) => text) };
}
