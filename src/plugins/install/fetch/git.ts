import { mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { isHooklineError } from '../../../base/errors.ts';
import { isDirectory } from '../../../base/files.ts';
import {
  buildFetchingVariables,
  removeRepositoryVariables,
} from '../../../process/git/git-profile.ts';
import { createInstallError, type GitSource, type OfficialSource } from '../source.ts';
import { refuseLinksOut } from '../tree.ts';
import { type Fetched, PACKAGE, type InstallTools, runTool } from './tools.ts';

/** Clones a repository at its ref, and removes the git data. */
export async function fetchRepository(
  { url, ref, name }: GitSource,
  staging: string,
  tools: InstallTools,
): Promise<Fetched> {
  const directory = path.join(staging, PACKAGE);
  const commit = await checkOut(url, ref, directory, tools);
  return toFetched({ name, commit });
}

/** Cline's own collection: one repository with a directory for each plugin. */
const OFFICIAL = 'https://github.com/cline/plugins';

export async function fetchOfficial(
  { slug }: OfficialSource,
  staging: string,
  tools: InstallTools,
): Promise<Fetched> {
  const clone = path.join(staging, 'clone');
  const commit = await checkOut(OFFICIAL, null, clone, tools).catch((error: unknown) => {
    throw explainOfficialSlug(slug, error);
  });
  const plugin = path.join(clone, 'plugins', slug);
  if (!isDirectory(plugin)) {
    throw createInstallError(
      `Cline’s collection of plugins has none that is called ${JSON.stringify(slug)}`,
      describeOtherKinds(slug),
    );
  }
  refuseLinksOut(plugin);
  renameSync(plugin, path.join(staging, PACKAGE));
  rmSync(clone, { recursive: true, force: true });
  return toFetched({ name: slug, commit });
}

/** A single word may not have been meant as a name of the collection. */
function explainOfficialSlug(slug: string, error: unknown): unknown {
  if (!isHooklineError(error)) return error;
  return createInstallError(
    `${JSON.stringify(slug)} is looked for in Cline’s collection of plugins: ${error.message}`,
    [error.hint, describeOtherKinds(slug)].filter(Boolean).join(' '),
  );
}

function describeOtherKinds(slug: string): string {
  return `A directory here is named ./${slug}, a package of the registry npm:${slug}.`;
}

function toFetched(checkout: { readonly name: string; readonly commit: string }): Fetched {
  return {
    ...checkout,
    path: PACKAGE,
    isFile: false,
    version: null,
    integrity: null,
    hasPackages: false,
  };
}

/** Checks out the ref and returns the commit. */
async function checkOut(
  url: string,
  ref: string | null,
  directory: string,
  tools: InstallTools,
): Promise<string> {
  tools.onProgress(`git fetches ${url} …`);
  mkdirSync(directory, { recursive: true });
  const git = (...args: readonly string[]): Promise<GitAnswer> => runGit(directory, args, tools);
  await requireSuccess(git('init', '--quiet'), url);
  const shallow = await git('fetch', '--quiet', '--depth=1', '--no-tags', '--', url, ref ?? 'HEAD');
  const found = shallow.isFine ? 'FETCH_HEAD' : await fetchAll(git, url, ref, shallow);
  await requireSuccess(git('checkout', '--quiet', '--detach', found), url);
  const commit = await requireSuccess(git('rev-parse', '--verify', 'HEAD'), url);
  rmSync(path.join(directory, '.git'), { recursive: true, force: true });
  // Both files could name programs, for git and for npm.
  rmSync(path.join(directory, '.npmrc'), { force: true });
  refuseLinksOut(directory);
  return commit;
}

type Git = (...args: readonly string[]) => Promise<GitAnswer>;

const EVERYTHING = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'] as const;

/** Not every server sends a commit that is not the head of a branch, so all branches are fetched. */
async function fetchAll(
  git: Git,
  url: string,
  ref: string | null,
  first: GitAnswer,
): Promise<string> {
  if (ref === null || !/^[\da-f]{4,64}$/iu.test(ref)) throw createGitError(url, first.text);
  await requireSuccess(git('fetch', '--quiet', '--', url, ...EVERYTHING), url);
  const commit = await git(
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${ref}^{commit}`,
  );
  if (commit.isFine) return commit.text;
  throw createGitError(url, `commit ${ref} not found`);
}

interface GitAnswer {
  readonly isFine: boolean;
  readonly text: string;
}

async function runGit(
  cwd: string,
  args: readonly string[],
  tools: InstallTools,
): Promise<GitAnswer> {
  const program = tools.findProgram('git');
  if (program === null) {
    throw createInstallError(
      'git is needed to install this plugin, and it is not on the PATH',
      'Install git.',
    );
  }
  const own = removeRepositoryVariables(tools.env);
  const env = {
    GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
    ...own,
    GIT_TERMINAL_PROMPT: '0',
    ...buildFetchingVariables(own),
  };
  const call = { file: program, args, cwd, env };
  const { exitCode, stdout, stderr } = await runTool(call, tools);
  const text = exitCode === 0 ? stdout.text.trim() : findErrorLine(stderr.text);
  return { isFine: exitCode === 0, text };
}

/** Finds the line with the error; the other lines only explain it. */
function findErrorLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  const fatal = lines.find((line) => /^(?:fatal|error):/u.test(line)) ?? lines.find(Boolean);
  return fatal?.replace(/^(?:fatal|error):\s*/u, '') ?? 'git failed without a word';
}

async function requireSuccess(answer: Promise<GitAnswer>, url: string): Promise<string> {
  const { isFine, text } = await answer;
  if (isFine) return text;
  throw createGitError(url, text);
}

function createGitError(url: string, why: string) {
  return createInstallError(
    `git could not fetch ${url}: ${why}`,
    'Nothing was installed. Can you clone it yourself, and is the branch or tag right?',
  );
}
