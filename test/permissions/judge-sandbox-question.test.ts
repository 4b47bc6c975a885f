import { describe, expect, test } from 'vitest';
import { createPermissions } from '../../src/permissions/create-permissions.ts';
import { PERMISSION_MODES, type SandboxQuestion } from '../../src/permissions/permissions.ts';
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

const QUESTION: SandboxQuestion = {
  reason: 'git push needs ~/.ssh.',
  hint: 'Run it yourself.',
  access: { readable: ['/home/me/.ssh'], variables: [], changeable: [], isIncomplete: false },
};

describe.each(PERMISSION_MODES)(
  'a command for which the sandbox is opened, in the mode %s',
  (mode) => {
    function judge(command: string, deny: readonly string[] = []) {
      const cwd = createDirectory();
      const permissions = createPermissions({
        searchPrograms: () => ({ find: () => null, findUntrusted: () => null }),
        mode,
        rules: [
          { behavior: 'allow', text: 'Bash', source: 'test' },
          ...deny.map((text) => ({ behavior: 'deny' as const, text, source: 'test' })),
        ],
        cwd,
        roots: [cwd],
        home: null,
        directories: [],
        protectedPaths: new ProtectedPaths(null, [], ['.claude/']),
        findGitProfile: createGitProfiles({ PATH: process.env['PATH'] ?? '' }, 'linux'),
      });
      const call = { names: ['Bash'], kind: 'execute' as const, cwd, input: { command } };
      return permissions.judge({ ...call, sandboxQuestion: QUESTION });
    }

    test('is a question for the user, whatever rules allow', () => {
      const ruling = judge('git push');
      expect(ruling).toMatchObject({ effect: EFFECTS[mode], isOverridable: false });
      if (ruling.effect === 'ask') {
        expect(ruling).toMatchObject({
          needsPerson: true,
          sandboxAccess: QUESTION.access,
          suggestions: [],
          reason: 'Bash with command git push needs approval in every mode: git push needs ~/.ssh.',
        });
      }
      if (mode === 'dontAsk') expect(ruling.reason).toContain('Run it yourself.');
    });

    test('is denied by a deny rule without a question', () => {
      expect(judge('git push', ['Bash(git push:*)'])).toMatchObject({ effect: 'deny' });
    });

    test('is asked about together with a protected place', () => {
      const ruling = judge('git push; echo x > .claude/settings.json');
      expect(ruling.effect).toBe(EFFECTS[mode]);
      if (ruling.effect !== 'ask') return;
      expect(ruling).toMatchObject({ needsPerson: true, sandboxAccess: QUESTION.access });
      expect(ruling.reason).toMatch(/it touches .*\.claude.*git push needs ~\/\.ssh\./);
    });
  },
);
