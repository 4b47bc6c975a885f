import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { environmentOf } from '../cli/hookline.ts';
import { createTempWorkspace, type TempWorkspace } from '../cli/temp-workspace.ts';

/** A repository as it could be unpacked from an archive or found on a shared disk. */
export interface HostileRepository {
  readonly about: string;
  /** Shell text that makes it, in an empty directory; `$EVIL` is a program that leaves a proof. */
  readonly setup: string;
  /** The commands that a developer, or an agent, would run there, each a call of its own. */
  readonly commands: readonly string[];
}

/** A repository with one commit, and a file that git must compare by its content. */
const COMMIT = `
git init --quiet . && echo one > file.txt && git add . && git commit --quiet -m first`;
const CHANGE = `
echo two > file.txt`;
/** A second commit. */
const SECOND = `
echo two > file.txt && git commit --quiet -am second`;
const SIGNED = `
{ printf 'tree %s\\nauthor a <a@b> 0 +0000\\ncommitter a <a@b> 0 +0000\\n' "$(git rev-parse HEAD^{tree})"
  printf 'gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n aaaa\\n -----END PGP SIGNATURE-----\\n\\nsigned\\n'
} > ../commit && git update-ref HEAD "$(git hash-object -t commit -w ../commit)"`;
const SSH_SIGNED = SIGNED.replaceAll('PGP', 'SSH');
const MERGE = `
git checkout --quiet -b other && echo other > file.txt && git commit --quiet -am other
git checkout --quiet - && echo mine > file.txt && git commit --quiet -am mine
git merge --quiet -s ours -m merged other`;
/** A submodule whose own files changed, and that is foreign like all the rest. */
const SUBMODULE = `
git init --quiet sub && (cd sub && echo one > inner.txt && git add . && git commit --quiet -m inner)
git add sub 2> /dev/null && git commit --quiet -m sub && echo two > sub/inner.txt`;
/** Without this blob, git asks the promisor remote for it. */
const MISSING_BLOB = `
blob=$(git rev-parse HEAD:file.txt) && rm -f .git/objects/\${blob%\${blob#??}}/*
git config extensions.partialClone origin && git config remote.origin.promisor true
git config core.repositoryFormatVersion 1`;

const REPOSITORIES: readonly HostileRepository[] = [
  {
    about: 'core.fsmonitor, for git status',
    setup: `${COMMIT} && git config core.fsmonitor "$EVIL"`,
    commands: ['git status'],
  },
  {
    about: 'core.fsmonitor, for git diff',
    setup: `${COMMIT} && git config core.fsmonitor "$EVIL" ${CHANGE}`,
    commands: ['git diff'],
  },
  {
    about: 'core.fsmonitor, in a pipe',
    setup: `${COMMIT} && git config core.fsmonitor "$EVIL"`,
    commands: ['git --no-pager status --short | head -5'],
  },
  {
    about: 'a clean filter that .gitattributes assigns',
    setup: `${COMMIT} && echo '* filter=evil' > .gitattributes && git config filter.evil.clean "$EVIL" ${CHANGE}`,
    commands: ['git status'],
  },
  {
    about: 'a clean filter that info/attributes assigns',
    setup: `${COMMIT} && mkdir -p .git/info && echo '* filter=evil' > .git/info/attributes && git config filter.evil.clean "$EVIL" ${CHANGE}`,
    commands: ['git diff --stat'],
  },
  {
    about: 'a filter process',
    setup: `${COMMIT} && echo '* filter=evil' > .gitattributes && git config filter.evil.process "$EVIL" ${CHANGE}`,
    commands: ['git diff'],
  },
  {
    about: 'a required filter with a name full of signs',
    setup: `${COMMIT} && echo '* filter=a.b=c;"d' > .gitattributes && git config 'filter.a.b=c;"d.clean' "$EVIL" && git config 'filter.a.b=c;"d.required' true ${CHANGE}`,
    commands: ['git status'],
  },
  {
    about: 'one of 150 filters',
    setup: `${COMMIT} && echo '* filter=evil140' > .gitattributes && for i in $(seq 150); do printf '[filter "evil%s"]\\n\\tclean = %s\\n' $i "$EVIL"; done >> .git/config ${CHANGE}`,
    commands: ['git status'],
  },
  {
    about: 'diff.external',
    setup: `${COMMIT} && git config diff.external "$EVIL" ${CHANGE}`,
    commands: ['git diff'],
  },
  {
    about: 'the command of a diff driver',
    setup: `${COMMIT} && echo '* diff=evil' > .gitattributes && git config diff.evil.command "$EVIL" ${CHANGE}`,
    commands: ['git diff'],
  },
  {
    about: 'textconv, for git diff',
    setup: `${COMMIT} && echo '* diff=evil' > .gitattributes && git config diff.evil.textconv "$EVIL" ${CHANGE}`,
    commands: ['git diff'],
  },
  {
    about: 'textconv, for git show',
    setup: `${COMMIT} && echo '* diff=evil' > .gitattributes && git config diff.evil.textconv "$EVIL" ${SECOND}`,
    commands: ['git show'],
  },
  {
    about: 'textconv, for git log -p',
    setup: `${COMMIT} && echo '* diff=evil' > .gitattributes && git config diff.evil.textconv "$EVIL" ${SECOND}`,
    commands: ['git log -p'],
  },
  {
    about: 'textconv, for git log -S',
    setup: `${COMMIT} && echo '* diff=evil' > .gitattributes && git config diff.evil.textconv "$EVIL" ${SECOND}`,
    commands: ['git log -Stwo'],
  },
  {
    about: 'textconv that the command line asks for',
    setup: `${COMMIT} && echo '* diff=evil' > .gitattributes && git config diff.evil.textconv "$EVIL"`,
    commands: ['git show --textconv HEAD:file.txt'],
  },
  {
    about: 'log.showSignature and gpg.program',
    setup: `${COMMIT} ${SIGNED} && git config log.showSignature true && git config gpg.program "$EVIL"`,
    commands: ['git log'],
  },
  {
    about: 'format.pretty and gpg.program',
    setup: `${COMMIT} ${SIGNED} && git config format.pretty '%G?' && git config gpg.program "$EVIL"`,
    commands: ['git show'],
  },
  {
    about: 'a named format and gpg.openpgp.program',
    setup: `${COMMIT} ${SIGNED} && git config pretty.nice 'tformat:%GS' && git config gpg.openpgp.program "$EVIL"`,
    commands: ['git log --pretty=nice'],
  },
  {
    about: 'gpg.ssh.program',
    setup: `${COMMIT} ${SSH_SIGNED} && git config gpg.ssh.program "$EVIL" && git config gpg.ssh.allowedSignersFile file.txt`,
    commands: ['git log --show-signature'],
  },
  {
    about: 'a merge driver, for git show --remerge-diff',
    setup: `${COMMIT} ${MERGE} && echo '* merge=evil' > .gitattributes && git config merge.evil.driver "$EVIL"`,
    commands: ['git show --remerge-diff'],
  },
  {
    about: 'a merge driver, for log.diffMerges',
    setup: `${COMMIT} ${MERGE} && echo '* merge=evil' > .gitattributes && git config merge.evil.driver "$EVIL" && git config log.diffMerges remerge`,
    commands: ['git log -m -p'],
  },
  {
    about: 'core.fsmonitor of a submodule, for git status',
    setup: `${COMMIT} ${SUBMODULE} && git -C sub config core.fsmonitor "$EVIL"`,
    commands: ['git status'],
  },
  {
    about: 'core.fsmonitor of a submodule, for git diff',
    setup: `${COMMIT} ${SUBMODULE} && git -C sub config core.fsmonitor "$EVIL"`,
    commands: ['git diff'],
  },
  {
    about: 'a submodule that .gitmodules wants compared',
    setup: `${COMMIT} ${SUBMODULE} && printf '[submodule "sub"]\\n\\tpath = sub\\n\\turl = ./sub\\n\\tignore = none\\n' > .gitmodules && git -C sub config core.fsmonitor "$EVIL"`,
    commands: ['git status --short'],
  },
  {
    about: 'a submodule that the command line wants compared',
    setup: `${COMMIT} ${SUBMODULE} && git -C sub config core.fsmonitor "$EVIL"`,
    commands: ['git status --ignore-submodules=none'],
  },
  {
    about: 'diff.submodule and a diff driver of the submodule',
    setup: `${COMMIT} ${SUBMODULE} && (cd sub && git commit --quiet -am two && echo '* diff=evil' > .gitattributes && git config diff.evil.textconv "$EVIL") && git config diff.submodule diff`,
    commands: ['git diff'],
  },
  {
    about: '--submodule=diff and a diff driver of the submodule',
    setup: `${COMMIT} ${SUBMODULE} && (cd sub && git commit --quiet -am two && echo '* diff=evil' > .gitattributes && git config diff.evil.textconv "$EVIL") && git commit --quiet -am sub2`,
    commands: ['git show --submodule=diff'],
  },
  {
    about: 'a hook that runs when the index is written',
    setup: `${COMMIT} && mkdir -p .git/hooks && cp "$EVIL" .git/hooks/post-index-change && touch -d '2001-01-01' file.txt`,
    commands: ['git status'],
  },
  {
    about: 'core.hooksPath in the checkout',
    setup: `${COMMIT} && mkdir nice && cp "$EVIL" nice/post-index-change && git config core.hooksPath nice && touch -d '2001-01-01' file.txt`,
    commands: ['git diff'],
  },
  {
    about: 'an included file of the checkout',
    setup: `${COMMIT} && printf '[core]\\n\\tfsmonitor = %s\\n' "$EVIL" > team.gitconfig && git config include.path ../team.gitconfig`,
    commands: ['git status'],
  },
  {
    about: 'a file that is included for a branch',
    setup: `${COMMIT} && printf '[core]\\n\\tfsmonitor = %s\\n' "$EVIL" > team.gitconfig && git checkout --quiet -b feature && git config 'includeIf.onbranch:feature.path' ../team.gitconfig`,
    commands: ['git status'],
  },
  {
    about: 'an included file of the home directory',
    setup: `${COMMIT} && printf '[core]\\n\\tfsmonitor = %s\\n' "$EVIL" > ~/unrelated.cfg && git config include.path '~/unrelated.cfg'`,
    commands: ['git status'],
  },
  {
    about: 'a format with the key of a signature',
    setup: `${COMMIT} ${SIGNED} && git config format.pretty 'tformat:%GK %GS' && git config gpg.x509.program "$EVIL" && git config gpg.program "$EVIL" && git tag -m x v1`,
    commands: ['git log -1 HEAD'],
  },
  {
    about: 'config.worktree',
    setup: `${COMMIT} && git config extensions.worktreeConfig true && git config --worktree core.fsmonitor "$EVIL"`,
    commands: ['git status'],
  },
  {
    about: 'a bare repository in the checkout',
    setup: `${COMMIT} && git init --quiet --bare inner && git -C inner config core.bare false && git -C inner config core.worktree . && git -C inner config core.fsmonitor "$EVIL" && git -C inner --git-dir=. --work-tree=. add config`,
    commands: ['cd inner', 'git status'],
  },
  {
    about: 'a bare repository below which the agent works',
    setup: `${COMMIT} && git init --quiet --bare inner && mkdir inner/src && git -C inner config core.bare false && git -C inner config core.worktree . && git -C inner config core.fsmonitor "$EVIL" && git -C inner --git-dir=. --work-tree=. add config`,
    commands: ['cd inner/src', 'git status'],
  },
  {
    about: 'a bare repository with its commondir elsewhere',
    setup: `${COMMIT} && mkdir inner common && (cd common; ${COMMIT} ${SIGNED} && git config log.showSignature true && git config gpg.program "$EVIL") && (cd inner && echo ../common/.git > commondir && echo 'ref: refs/heads/main' > HEAD)`,
    commands: ['cd inner', 'git log'],
  },
  {
    about: 'a repository whose .git is a file that points into the checkout',
    setup: `${COMMIT} && git config core.fsmonitor "$EVIL" && mv .git docs && echo 'gitdir: docs' > .git`,
    commands: ['git status'],
  },
  {
    about: 'a directory of the checkout whose .git is a file',
    setup: `${COMMIT} && git init --quiet hidden && git -C hidden config core.fsmonitor "$EVIL" && mkdir src && echo 'gitdir: ../hidden/.git' > src/.git`,
    commands: ['cd src', 'git status'],
  },
  {
    about: 'a forged worktree',
    setup: `${COMMIT} && git init --quiet hidden && (cd hidden && git commit --quiet --allow-empty -m x && git config core.fsmonitor "$EVIL" && git worktree add --quiet ../src)`,
    commands: ['cd src', 'git status'],
  },
  {
    about: 'a commondir in .git',
    setup: `${COMMIT} && git init --quiet hidden && git -C hidden config core.fsmonitor "$EVIL" && cp -r .git/objects .git/refs hidden/.git && echo ../hidden/.git > .git/commondir`,
    commands: ['git status'],
  },
  {
    about: 'a .git that is a link',
    setup: `${COMMIT} && git config core.fsmonitor "$EVIL" && mv .git docs && ln -s docs .git`,
    commands: ['git status'],
  },
  {
    about: 'a nested repository',
    setup: `${COMMIT} && git init --quiet nested && git -C nested config core.fsmonitor "$EVIL"`,
    commands: ['cd nested', 'git status'],
  },
  {
    about: 'a promisor remote with an ext address',
    setup: `${COMMIT} ${MISSING_BLOB} && git config remote.origin.url "ext::$EVIL" && git config protocol.ext.allow always`,
    commands: ['git show HEAD:file.txt'],
  },
  {
    about: 'a promisor remote with core.sshCommand',
    setup: `${COMMIT} ${MISSING_BLOB} && git config remote.origin.url ssh://localhost/x && git config core.sshCommand "$EVIL"`,
    commands: ['git log -p'],
  },
  {
    about: 'a promisor remote with its own upload-pack',
    setup: `${COMMIT} ${MISSING_BLOB} && git config remote.origin.url "$PWD" && git config remote.origin.uploadpack "$EVIL" && git config protocol.file.allow always`,
    commands: ['git show'],
  },
  {
    about: 'a promisor remote behind core.gitProxy',
    setup: `${COMMIT} ${MISSING_BLOB} && git config remote.origin.url git://localhost/x && git config core.gitProxy "$EVIL"`,
    commands: ['git show'],
  },
  {
    about: 'core.alternateRefsCommand',
    setup: `${COMMIT} && git init --quiet --bare ../alt && echo "$PWD/../alt/objects" > .git/objects/info/alternates && git config core.alternateRefsCommand "$EVIL"`,
    commands: ['git log --alternate-refs'],
  },
  {
    about: 'the browser of git help',
    setup: `${COMMIT} && git config help.format web && git config help.browser evil && git config browser.evil.cmd "$EVIL" && git config help.htmlPath http://localhost`,
    commands: ['git status --help'],
  },
  {
    about: 'the viewer of git help',
    setup: `${COMMIT} && git config man.viewer evil && git config man.evil.cmd "$EVIL"`,
    commands: ['git log --help'],
  },
];

export const HOSTILE_REPOSITORIES = REPOSITORIES;

export interface StagedRepository extends TempWorkspace {
  /** A file that exists as soon as the repository ran its program. */
  readonly proof: string;
}

/** Makes the repository in a temporary place, with the user's git configuration beside it. */
export function prepareRepository({ setup }: Pick<HostileRepository, 'setup'>): StagedRepository {
  const workspace = createTempWorkspace();
  const proof = path.join(workspace.directory, 'proof');
  const evil = path.join(workspace.directory, 'evil.sh');
  writeFileSync(evil, `#!/bin/sh\necho ran >> ${proof}\n`);
  chmodSync(evil, 0o755);
  writeFileSync(path.join(workspace.home, '.gitconfig'), USER_CONFIG);
  execFileSync('sh', ['-e', '-c', `rm -rf .git; ${setup}`], {
    cwd: workspace.repo,
    env: { ...environmentOf(workspace), EVIL: evil },
    stdio: 'pipe',
  });
  // What made it may have run the program.
  execFileSync('rm', ['-f', proof]);
  mkdirSync(path.join(workspace.directory, 'tmp'), { recursive: true });
  return { ...workspace, proof };
}

const USER_CONFIG = `[user]
\tname = dev
\temail = dev@example.org
[init]
\tdefaultBranch = main
`;
