import { expect, it } from 'vitest';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import { DONE, runScript } from '../e2e/agent-run.ts';
import { at, createTempWorkspace } from '../cli/temp-workspace.ts';

interface Listing {
  readonly ignored: readonly { readonly path: string; readonly why: string }[];
}

it.each([
  ['guard.ts', 'export default { name: "guard", manifest: { capabilities: ["hooks"] }, hooks: { {'],
  ['half.ts', 'const plugin = {\n  name: "half",\n  hooks: {\n'],
  ['words.js', 'this is no program'],
])('a plugin file that cannot be parsed is ignored with its error: %s', async (name, text) => {
  const file = `.cline/plugins/${name}`;
  const workspace = createTempWorkspace({ [file]: text });
  const listed = await runHookline(['hooks', 'list', '--json'], at(workspace));
  const { ignored }: Listing = jsonOf(listed);
  expect(ignored).toContainEqual({
    path: `${workspace.repo}/${file}`,
    why: expect.stringMatching(/^cannot be parsed: line \d+: /),
    mayHideHook: true,
  });
  const { stdout } = await runHookline(['hooks', 'list'], at(workspace));
  expect(stdout).toMatch(/a guard may be missing: cannot be parsed: line \d+: /);
});

it('an unparsable plugin is reported once by a session, with what is lost', async () => {
  const file = '.cline/plugins/guard.ts';
  const workspace = createTempWorkspace({ [file]: 'export default { name: "guard", manifest: {' });
  const why = `${workspace.repo}/${file} cannot be parsed: line 1: Expected \`}\` but found \`EOF\``;
  const notice = `a guard may be missing: ${why}; the plugin guard is not loaded`;
  const run = await runScript(workspace, [DONE], ['go', '--output', 'json', '--sandbox', 'off']);
  expect(run.stderr).toBe(`note: ${notice}\n`);
  expect(jsonOf(run)).toMatchObject({
    text: 'Done.',
    pluginIssues: [
      {
        plugin: 'guard',
        phase: 'discover',
        level: 'error',
        message: `it is not loaded: ${why}`,
        isMissingGuard: true,
      },
    ],
  });
  const strict = await runScript(workspace, [DONE], ['go', '--strict']);
  expect(strict).toMatchObject({ code: 3, stderr: expect.stringContaining(notice) });
});

it('a helper and a plugin that can be parsed are not', async () => {
  const workspace = createTempWorkspace({
    '.cline/plugins/one.ts':
      '#!/usr/bin/env bun\nimport { x } from "./x.ts";\nexport default { name: "one", manifest: { capabilities: [] as string[] }, setup: () => void x };\n',
    '.cline/plugins/x.ts': 'export const x: number = 1;\n',
  });
  const listed = await runHookline(['hooks', 'list', '--json'], at(workspace));
  const { ignored }: Listing = jsonOf(listed);
  expect(ignored.filter(({ why }) => why.includes('parsed'))).toEqual([]);
});
