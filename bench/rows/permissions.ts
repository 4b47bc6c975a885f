import { createPermissions } from '../../src/permissions/create-permissions.ts';
import type { PermissionCall } from '../../src/permissions/permissions.ts';
import { ProtectedPaths } from '../../src/permissions/protected-paths.ts';
import { createProgramSearch } from '../../src/process/search-path.ts';
import { createGitProfiles } from '../../src/process/git/git-profiles.ts';
import { createTempWorkspace } from '../temp-workspace.ts';
import type { Contest, Row, RowOptions } from '../row.ts';

/** What it takes to judge a command before it runs. */
export const permissionRows: readonly Row[] = [
  {
    name: 'judge a 2 KB command',
    bound: { of: 'ms', atMost: 1, because: 'it comes before every command of an agent' },
    open: openJudge,
  },
];

const RULES = [
  ['allow', 'Bash'],
  ['deny', 'Bash(git push:*)'],
  ['deny', 'Bash(rm -rf *)'],
  ['deny', 'Bash(curl:*)'],
  ['ask', 'Bash(npm publish:*)'],
  ['deny', 'Read(./.env)'],
  ['deny', 'Read(./secrets/**)'],
  ['deny', 'Edit(./locked/**)'],
] as const;

const STEP =
  'cd src && F=$(git rev-parse HEAD) && npm run build -- --mode "$MODE" 2>&1 | tail -20 && for f in a.ts b.ts; do grep -n "export const" "$f" | sort -u > ../notes/out.txt; done; ';
const COMMAND_LENGTH = 2048;

function openJudge({ quick }: RowOptions): Promise<Contest> {
  const place = createTempWorkspace();
  const { workspace, home } = place;
  const permissions = createPermissions({
    searchPrograms: (cwd, untrusted) =>
      createProgramSearch(process.env['PATH'], { cwd, untrusted }),
    mode: 'default',
    cwd: workspace,
    roots: [workspace],
    home,
    directories: [],
    protectedPaths: new ProtectedPaths(home, [`${home}/.hookline`], ['.claude/settings.json']),
    findGitProfile: createGitProfiles({ PATH: process.env['PATH'] ?? '', HOME: home }, 'linux'),
    rules: RULES.map(([behavior, text]) => ({ behavior, text, source: 'bench' })),
  });
  let count = 0;
  const createCall = (): PermissionCall => ({
    names: ['Bash'],
    kind: 'execute',
    cwd: workspace,
    // Another text each time, because the last one is cached.
    input: { command: `echo ${(count += 1)}; ${STEP.repeat(20)}`.slice(0, COMMAND_LENGTH) },
  });
  return Promise.resolve({
    samples: quick ? 20 : 100,
    batch: 20,
    // A step of the agent lies between two commands, which empties the cache of resolved files.
    us: async () => Promise.resolve(permissions.judge(createCall())),
    close: () => {
      place.remove();
      return Promise.resolve();
    },
  });
}
