import { describe, expect, it } from 'vitest';
import { runHookline } from '../../cli/hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from '../../cli/temp-workspace.ts';

// Many public plugins are a directory with an index.ts and no package.json. A file by itself gets the packages
// that the host has; once such a directory was installed it did not, although it had been found fine before.

function importing(name: string): TempWorkspace {
  const workspace = createTempWorkspace();
  write(
    workspace.directory,
    'greeter/index.ts',
    `import * as needed from '${name}';
export default { name: 'greeter', manifest: { capabilities: ['hooks'] }, hooks: { afterRun: () => needed } };`,
  );
  return workspace;
}

async function installed(workspace: TempWorkspace): Promise<TempWorkspace> {
  const { code } = await runHookline(
    ['plugin', 'install', `${workspace.directory}/greeter`],
    at(workspace),
  );
  expect(code).toBe(0);
  return workspace;
}

describe('a plugin without a package.json', () => {
  it('gets the host’s packages after it was installed, too', async () => {
    const workspace = await installed(importing('zod'));
    const { stdout } = await runHookline(['plugin', 'list'], at(workspace));
    expect(stdout).toContain('greeter  ready');
  });

  it('gets a hint how to add a package that the host does not have', async () => {
    const workspace = await installed(importing('nobody-has-this'));
    const { stdout } = await runHookline(['plugin', 'list'], at(workspace));
    expect(stdout).toContain(
      'give the plugin a package.json that lists it in its dependencies, and install the plugin again',
    );
  });

  it('is not reported as imported by the doctor when it cannot be', async () => {
    const workspace = await installed(importing('nobody-has-this'));
    const { code, stdout } = await runHookline(['plugin', 'doctor'], at(workspace));
    const about = stdout.split('\n').filter((line) => line.includes('plugin:home:greeter'));
    expect({ code, about }).toEqual({
      code: 1,
      about: [expect.stringContaining("Cannot find package 'nobody-has-this'")],
    });
  });
});
