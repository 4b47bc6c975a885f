import { describe, expect, test } from 'vitest';
import { PERMISSION_MODES } from '../../src/permissions/permissions.ts';
import { call, createMachine, open } from './session.ts';

/** The effect of a call in each mode that asks or allows. */
function listEffects(tool: string, about: string): readonly string[] {
  const machine = createMachine({ 'ws/.git/HEAD': 'ref: refs/heads/main\n', 'ws/bare/HEAD': '' });
  const modes = PERMISSION_MODES.filter((mode) => mode !== 'plan');
  return modes.map((mode) => {
    const session = open(machine, { mode, rules: ['allow Bash', 'allow Write', 'allow Edit'] });
    const { effect, needsPerson } = session.judge(call(tool, about, machine.root));
    expect(needsPerson === true).toBe(effect !== 'allow');
    return effect;
  });
}

const ASKED = ['ask', 'ask', 'ask', 'deny'];
const ALLOWED = ['allow', 'allow', 'allow', 'allow'];

describe('a file that steers git', () => {
  test.each([
    '.git',
    'sub/.git',
    '.git/config',
    '.git/config.worktree',
    '.git/commondir',
    '.git/info/attributes',
    '.git/info/grafts',
    '.git/hooks/pre-commit',
    '.git/objects/info/alternates',
    '.git/remotes/origin',
    '.git/rebase-merge/git-rebase-todo',
    '.git/modules/lib/config',
    '.git/modules/lib/hooks/pre-commit',
    '.git/modules/a/modules/b/info/attributes',
    '.git/worktrees/w/gitdir',
    '.git/worktrees/w/commondir',
    '.git/worktrees/w/config.worktree',
    '.GIT/Config',
    'GIT~1/config',
    'src/../.git/config',
    'vendor/lib/.git/config',
    'HEAD',
    'inner/HEAD',
    'bare/config',
    'bare/commondir',
    'bare/hooks/post-checkout',
    'bare/refs/heads/main',
    'bare/objects/info/alternates',
    '~/.gitconfig',
    '~/.config/git/config',
    '~/.config/git/attributes',
    '.gitconfig',
  ])('%s is written with the user’s approval only, in every mode', (file) => {
    expect(listEffects('Write', file)).toEqual(ASKED);
  });

  test.each([
    '.gitignore',
    '.gitattributes',
    '.gitmodules',
    '.git/info/exclude',
    '.git/COMMIT_EDITMSG',
    '.git/refs/remotes/origin/main',
    'config',
    'src/config',
    'src/hooks/useThing.ts',
    'objects/a.json',
    'headers/HEAD.txt',
  ])('%s is a file like any other', (file) => {
    expect(listEffects('Write', file)).toEqual(ALLOWED);
  });
});

describe('a command that steers git', () => {
  test.each([
    'git config core.fsmonitor /tmp/x',
    'git config user.name x',
    'git config --global core.hooksPath /tmp/x',
    'git config --global alias.st "!sh"',
    'git config --unset user.name',
    'git config --add remote.origin.fetch x',
    'git config --ad a.b c',
    'git config set core.pager x',
    'git config --local set core.pager x',
    'git config edit',
    'git config -e',
    'git config --file .git/config a.b c',
    'git config -f x a.b c',
    'git config --type=bool a.b true',
    'git config "$KEY"',
    'git -C sub config a.b c',
    'git --git-dir=x config a.b c',
    'git -c user.name=x config a.b c',
    '/usr/bin/git config a.b c',
    'sudo git config a.b c',
    'env A=b git config a.b c',
    'command git config a.b c',
    "sh -c 'git config a.b c'",
    'echo a.b c | xargs git config',
    'echo config a.b c | xargs git',
    'find . -name x -exec git config a.b c ;',
    'ls && git config a.b c',
    'git $X',
    'git -c core.fsmonitor=/tmp/x status',
    'git -c alias.x=!sh x',
    'git -c CORE.SSHCOMMAND=x fetch',
    'git -c "core.sshCommand=$X" fetch',
    'git -c "$X" status',
    'git -c filter.x.clean=y status',
    'git -c diff.external=x diff',
    'git -c core.hooksPath=x commit',
    'git -c include.path=x status',
    'git -c protocol.ext.allow=always fetch',
    'git --config-env=core.pager=X log',
    'git --config-env core.pager=X log',
    'git remote set-url origin "ext::sh -c evil"',
    'git remote add x ext::evil',
    'git fetch ext::evil',
    'git clone foo::bar',
    'git clone -c core.fsmonitor=x https://example.org/a',
    'git clone --config core.fsmonitor=x https://example.org/a',
    'git clone --template=evil https://example.org/a',
    'git clone --templ evil https://example.org/a',
    'git clone -u evil host:x',
    'git clone --separate-git-dir=x https://example.org/a',
    'git init --template=evil',
    'git init --separate-git-dir=x',
    'git submodule add https://example.org/a',
    'git submodule set-url a ext::x',
    'git submodule sync',
    'git lfs install',
    'git maintenance start',
    'echo "gitdir: x" > .git',
    'printf x > sub/.git',
    'touch inner/HEAD',
    'cp x inner/HEAD',
    'echo x > HEAD',
    'echo x >> bare/config',
    'mkdir bare/objects bare/refs',
    'echo x > .git/commondir',
    'echo x | tee .git/info/attributes',
    'cd .git && echo x > commondir',
    'cp x .git/modules/lib/config',
    'echo x > ~/.gitconfig',
    'mv .git docs',
    'mv evil .git/modules',
    'mv evil .git/modules/lib',
    'mv evil .git/info',
    'cp -r evil .git/worktrees',
  ])('%j is asked about in every mode', (command) => {
    expect(listEffects('Bash', command)).toEqual(ASKED);
  });

  test.each([
    'git status',
    'git diff HEAD',
    'git reset --hard HEAD',
    'git checkout HEAD -- src/a.ts',
    'git config user.name',
    'git config --get user.name',
    'git config --get-all remote.origin.fetch',
    'git config --list --show-origin',
    'git config -l',
    'git config get user.name',
    'git config --global --get user.email',
    'git config --default x --get a.b',
    'git -c color.ui=never log',
    'git -c user.name=x -c user.email=y commit -m z',
    'git -c advice.detachedHead=false checkout x',
    'git commit -m "git config a b"',
    'git commit -m "$MESSAGE"',
    'git remote add origin https://example.org/a.git',
    'git remote -v',
    'git clone https://example.org/a.git',
    'git clone --depth=1 git@example.org:a.git',
    'git init',
    'git init -b main',
    'git submodule update --init',
    'git submodule status',
    'git worktree add ../x',
    'git fetch origin main',
    'git push origin HEAD',
    'grep -rn "git config" docs',
    'echo git config a.b c',
    'git --version',
    'rm -f .git/index.lock',
    'ls .git',
    'ls .git/modules',
    'npm test',
    'gh pr view',
  ])('%j is not', (command) => {
    expect(listEffects('Bash', command)).toEqual(ALLOWED);
  });
});

test('the reason says what is changed', () => {
  const machine = createMachine();
  const ruling = open(machine).judge(call('Bash', 'git config a.b c', machine.root));
  expect(ruling.reason).toBe(
    'Bash with command git config a.b c needs approval in every mode: it touches the configuration of git, which controls what runs here.',
  );
});
