import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from '../cli/temp-workspace.ts';
import { DONE, runScript } from '../e2e/agent-run.ts';

const HOOK = '#!/bin/sh\nexit 2\n';
const DENY = '{"permissions": {"deny": ["Bash"]}}';
const PLUGIN =
  'export default { name: "guard", manifest: { capabilities: ["hooks"] }, hooks: {} };\n';

/** A file of the workspace, or of the home directory, whose place has one misspelt name. */
const MISSPELT: readonly (readonly [file: string, text: string, place: string, meant: string])[] = [
  ['.claude/setting.json', DENY, '.claude/setting.json', '.claude/settings.json'],
  ['.claude/settings.jsn', DENY, '.claude/settings.jsn', '.claude/settings.json'],
  ['.claude/settings.jsonc', DENY, '.claude/settings.jsonc', '.claude/settings.json'],
  ['.claude/Settings.json', DENY, '.claude/Settings.json', '.claude/settings.json'],
  [
    '.claude/settings-local.json',
    DENY,
    '.claude/settings-local.json',
    '.claude/settings.local.json',
  ],
  ['.cluade/settings.json', DENY, '.cluade/settings.json', '.claude/settings.json'],
  ['.cline/hook.json', '{"hooks": {}}', '.cline/hook.json', '.cline/hooks.json'],
  ['.clinerules/hook/PreToolUse', HOOK, '.clinerules/hook', '.clinerules/hooks'],
  ['.clinerules/Hooks/PreToolUse.sh', HOOK, '.clinerules/Hooks', '.clinerules/hooks'],
  ['.clinerule/hooks/PreToolUse', HOOK, '.clinerule/hooks', '.clinerules/hooks'],
  ['.cline/hoooks/PreToolUes', HOOK, '.cline/hoooks', '.cline/hooks'],
  ['.cline/plugin/guard.ts', PLUGIN, '.cline/plugin', '.cline/plugins'],
  ['~/.claude/setings.json', DENY, '~/.claude/setings.json', 'settings.json'],
  ['~/.cline/hook/PreToolUse', HOOK, '~/.cline/hook', 'hooks'],
  ['~/Documents/Cline/hooks/PreToolUse', HOOK, '~/Documents/Cline/hooks', 'Hooks'],
];

function locate({ repo, home }: TempWorkspace, file: string): string {
  return file.startsWith('~/') ? path.join(home, file.slice(2)) : path.join(repo, file);
}

interface Listing {
  readonly ignored: readonly { readonly path: string; readonly mayHideHook?: true }[];
}

describe('a misspelt name of a settings file or a directory', () => {
  it('is listed as ignored, with what was probably meant', async () => {
    const workspace = createTempWorkspace();
    for (const [file, text] of MISSPELT) write('/', locate(workspace, file), text);
    const listed = await runHookline(['hooks', 'list', '--json'], at(workspace));
    const { ignored }: Listing = jsonOf(listed);
    const expected = MISSPELT.map(([, , place, meant]) => ({
      path: locate(workspace, place),
      why: `is not read because of its name; did you mean ${meant}?`,
      mayHideHook: true,
    }));
    const sort = (list: readonly { readonly path: string }[]) =>
      list.toSorted((one, other) => (one.path < other.path ? -1 : 1));
    expect(sort(ignored.filter(({ mayHideHook }) => mayHideHook))).toEqual(sort(expected));
  });

  it.each([
    ['.clinerules/hook/PreToolUse', HOOK, 'clinerules/hook is not read', 1],
    [
      '.claude/hooks.json',
      '{"hooks": {}}',
      'copy its hooks with `hookline hooks import --from claude`',
      1,
    ],
    ['.hookline/confg.json', '{}', 'did you mean .hookline/config.json?', 1],
  ])('is reported once by each run, and an error under --strict: %s', async (...row) => {
    const [file, text, says, problems] = row;
    const workspace = createTempWorkspace({ [file]: text });
    const [run, strict, listed, doctor] = await Promise.all([
      runScript(workspace, [DONE], ['go', '--sandbox', 'off']),
      runScript(workspace, [DONE], ['go', '--strict']),
      runHookline(['hooks', 'list', '--strict'], at(workspace)),
      runHookline(['doctor', '--json'], at(workspace)),
    ]);
    expect(run).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(run.stderr.split(says)).toHaveLength(2);
    expect([strict.code, listed.code, doctor.code]).toEqual([3, 3, 1]);
    expect(strict.stderr).toContain(says);
    expect(jsonOf(doctor)).toMatchObject({ problems });
  });
});

it('names that were chosen on purpose cause no warning', async () => {
  const workspace = createTempWorkspace({
    '.claude/settings.json': '{}',
    '.claude/settings.local.json': '{}',
    '.claude/settings.json.bak': DENY,
    '.claude/settings.json~': DENY,
    '.claude/#settings.json#': DENY,
    '.claude/settings2.json': DENY,
    '.claude/settings.js': 'export {}',
    '.claude/_settings.json': DENY,
    '.claude/agents/one.md': 'x',
    '.cline/hooks.json': '{}',
    '.cline/hooks.ts': 'export {}',
    '.clinerules/books/PreReading.md': 'x',
    '.clinerules/hook/README.md': 'x',
    '.clinerules/_hooks/PreToolUse': HOOK,
    '.cline/plugin/notes.md': 'x',
    '.clone/hooks.md': 'x',
    '.cloud/settings.json': '{}',
    '.hookline/config.json': '{}',
  });
  symlinkSync('settings.json', path.join(workspace.repo, '.claude', 'setting.json'));
  mkdirSync(path.join(workspace.repo, '.claude', 'settings.jsn'));
  const listed = await runHookline(['hooks', 'list', '--strict'], at(workspace));
  expect({ code: listed.code, stderr: listed.stderr }).toEqual({ code: 0, stderr: '' });
});
