import { describe, expect, test } from 'vitest';
import { createPermissions } from '../../src/permissions/create-permissions.ts';
import { PERMISSION_MODES } from '../../src/permissions/permissions.ts';
import { ProtectedPaths } from '../../src/permissions/protected-paths.ts';
import { createGitProfiles } from '../../src/process/git/git-profiles.ts';
import { createDirectory } from '../base/directory.ts';

/** Expected effects by mode: a refusal of the mode stays one. */
const EFFECTS = {
  default: 'ask',
  acceptEdits: 'ask',
  plan: 'deny',
  bypassPermissions: 'ask',
  dontAsk: 'deny',
} as const;

describe.each(PERMISSION_MODES)(
  'a command that asks to leave the sandbox, in the mode %s',
  (mode) => {
    test.each([true, 'true'])(
      'with %j is a question for the user, whatever rules allow',
      (value) => {
        const cwd = createDirectory();
        const permissions = createPermissions({
          searchPrograms: () => ({ find: () => null, findUntrusted: () => null }),
          mode,
          rules: [{ behavior: 'allow', text: 'Bash', source: 'test' }],
          cwd,
          roots: [cwd],
          home: null,
          directories: [],
          protectedPaths: new ProtectedPaths(null, [], []),
          findGitProfile: createGitProfiles({ PATH: process.env['PATH'] ?? '' }, 'linux'),
        });
        const call = { names: ['Bash'], kind: 'execute' as const, cwd };
        const input = { command: 'ls', dangerouslyDisableSandbox: value };
        const ruling = permissions.judge({ ...call, input });
        expect(ruling).toMatchObject({ effect: EFFECTS[mode], isOverridable: false });
        if (ruling.effect === 'ask') expect(ruling).toMatchObject({ needsPerson: true });
      },
    );

    test('is denied where a file forbids it', () => {
      const cwd = createDirectory();
      const permissions = createPermissions({
        searchPrograms: () => ({ find: () => null, findUntrusted: () => null }),
        mode,
        rules: [{ behavior: 'allow', text: 'Bash', source: 'test' }],
        cwd,
        roots: [cwd],
        home: null,
        directories: [],
        protectedPaths: new ProtectedPaths(null, [], []),
        findGitProfile: createGitProfiles({ PATH: process.env['PATH'] ?? '' }, 'linux'),
        findExitForbidder: () => 'policy.json',
      });
      const input = { command: 'ls', dangerouslyDisableSandbox: true };
      const call = { names: ['Bash'], kind: 'execute' as const, cwd, input };
      const denied = { effect: 'deny', isOverridable: false };
      expect(permissions.judge(call)).toMatchObject(denied);
      const inside = { ...call, input: { command: 'ls' } };
      expect(permissions.judge(inside).reason).not.toContain('policy.json');
    });
  },
);
