import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { BugError } from '../../../src/base/errors.ts';
import { environmentOf, resultOf } from '../../cli/hookline.ts';
import { createTempWorkspace, type TempWorkspace, write } from '../../cli/temp-workspace.ts';
import { type Service, type ServiceTurn, startService } from '../../e2e/service.ts';

const PROJECT = path.resolve(import.meta.dirname, '../../..');

/** What such a program has without importing it; `report` prints a line that the test reads. */
const PRELUDE = `
const config = (more = {}) => ({
  providerId: 'openai-compatible',
  modelId: 'gpt-4o',
  apiKey: 'k',
  baseUrl: process.env.SERVICE,
  systemPrompt: 'SYS',
  cwd: process.cwd(),
  enableSpawnAgent: false,
  ...more,
});
const report = (value) => console.log(JSON.stringify(value));
`;

export interface ProgramRun<Report> {
  /** What the program reported, in order. */
  readonly reports: readonly Report[];
  readonly stderr: string;
  readonly workspace: TempWorkspace;
  readonly service: Service;
}

/** A workspace in which programs find the built `hookline` as a dependency. */
export function createProgramWorkspace(): TempWorkspace {
  const workspace = createTempWorkspace();
  const modules = path.join(workspace.directory, 'node_modules');
  mkdirSync(modules, { recursive: true });
  symlinkSync(PROJECT, path.join(modules, 'hookline'), 'dir');
  return workspace;
}

/** Runs a program that imports the built `hookline`; the service of its model answers with these turns. */
export async function runProgram<Report = unknown>(
  text: string,
  turns: readonly ServiceTurn[],
  {
    workspace = createProgramWorkspace(),
    env = {},
  }: { readonly workspace?: TempWorkspace; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<ProgramRun<Report>> {
  const service = await startService(turns);
  const file = write(workspace.directory, 'program.mjs', `${PRELUDE}${text}`);
  const child = spawn(process.execPath, [file], {
    cwd: workspace.repo,
    env: environmentOf({ home: workspace.home, env: { SERVICE: service.url, ...env } }),
  });
  const { code, stdout, stderr } = await resultOf(child);
  if (code !== 0) throw new BugError(`the program ended with ${code}: ${stdout}\n${stderr}`);
  const lines = stdout.split('\n').filter((line) => line !== '');
  const reports: Report[] = lines.map((line) => JSON.parse(line));
  return { reports, stderr, workspace, service };
}
