import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from './hookline.ts';
import { createTempWorkspace, write } from './temp-workspace.ts';

/** Fires PreToolUse at one trusted hook, on a machine without bun. */
async function fire(file: string, text: string) {
  const workspace = createTempWorkspace();
  write(workspace.repo, `.clinerules/hooks/${file}`, text);
  write(workspace.repo, 'rules.json', '{ "word": "no" }');
  const at = {
    cwd: workspace.repo,
    home: workspace.home,
    env: { PATH: '/usr/bin:/bin' },
  };
  await runHookline(['trust', '--yes'], at);
  const result = await runHookline(['hooks', 'fire', 'PreToolUse', '--tool', 'Bash', '--json'], at);
  const { effect, reasons, outcomes } = jsonOf(result);
  return { effect, reason: reasons[0]?.text, failure: outcomes[0].failure };
}

const CAUGHT = (use: string): string => `
try { ${use} } catch (error) { console.error(String(error)); console.log('{}'); }
`;

describe('a hook that is written for bun, where bun is not installed', () => {
  it('reads stdin and files with Bun when its text names it', async () => {
    const text = `
      const { hookName } = await Bun.stdin.json();
      const { word } = await Bun.file('rules.json').json();
      const whole = await Bun.file(new URL('../../rules.json', import.meta.url)).text();
      const isThere = [await Bun.file('rules.json').exists(), await Bun.file('none.json').exists()];
      console.log(JSON.stringify({ cancel: true, errorMessage: [word, hookName, whole.length, ...isThere].join(' ') }));
    `;
    expect(await fire('PreToolUse.ts', text)).toEqual({
      effect: 'deny',
      reason: 'no PreToolUse 16 true false',
      failure: null,
    });
    expect(
      await fire(
        'PreToolUse.ts',
        `const input = JSON.parse(await Bun.stdin.text());
        console.log(JSON.stringify({ cancel: true, errorMessage: input.hookName }));`,
      ),
    ).toMatchObject({ effect: 'deny', reason: 'PreToolUse' });
  });

  it('fails when it needs more of Bun, also when it catches that', async () => {
    const missing = expect.objectContaining({
      message: expect.stringContaining('Bun is not defined'),
    });
    const spawn = `Bun.spawnSync(['true']);`;
    expect(await fire('PreToolUse.ts', spawn)).toMatchObject({ failure: missing });
    expect(await fire('PreToolUse.ts', CAUGHT(spawn))).toMatchObject({ failure: missing });
    expect(await fire('PreToolUse.mjs', CAUGHT(`await Bun.stdin.text();`))).toMatchObject({
      failure: missing,
    });
    expect(await fire('PreToolUse.mjs', CAUGHT(`Deno.exit(2);`))).toMatchObject({
      failure: expect.objectContaining({ message: expect.stringContaining('Deno is not defined') }),
    });
  });

  it('is left alone when it looks for Bun itself', async () => {
    const text = `console.log(JSON.stringify({ cancel: true, errorMessage: typeof Bun }));`;
    expect(await fire('PreToolUse.ts', text)).toMatchObject({ reason: 'undefined' });
  });

  it('may still refuse with an answer of its own', async () => {
    const text = `console.error('Bun is not defined'); console.log('{"cancel": true, "errorMessage": "own"}');`;
    expect(await fire('PreToolUse.mjs', text)).toMatchObject({ effect: 'deny', reason: 'own' });
  });
});

describe('a plugin that is written for bun', () => {
  it('fails in Node.js, where Bun is never put into the host', async () => {
    const workspace = createTempWorkspace();
    const plugin = (name: string, more: string): string =>
      `export default { name: '${name}', manifest: { capabilities: ['hooks'] }, hooks: { ${more} } };`;
    write(
      workspace.home,
      '.cline/plugins/uses.ts',
      plugin('uses', `beforeTool: async () => ({ skip: (await Bun.file('x').text()) !== '' })`),
    );
    write(
      workspace.home,
      '.cline/plugins/loads.ts',
      `const from = Bun.env.HOME; ${plugin('loads', '')}`,
    );
    const result = await runHookline(['hooks', 'fire', 'PreToolUse', '--tool', 'Bash', '--json'], {
      cwd: workspace.repo,
      home: workspace.home,
      env: { PATH: '/usr/bin:/bin' },
    });
    const failures = jsonOf(result).outcomes.map(
      ({ hook, failure }: { hook: string; failure: { message: string } }) => [
        hook,
        failure.message,
      ],
    );
    expect(failures).toEqual([['plugin:uses:beforeTool', 'Bun is not defined']]);
    expect(result.stderr).toMatch(/^note: plugin loads: .*Bun is not defined.*\n$/);
  });
});
