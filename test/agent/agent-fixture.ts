import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { RuntimeEvent } from '../../src/agent/runtime-event.ts';
import { EVENT_NAMES } from '../../src/hooks/events.ts';
import type { HookEvent } from '../../src/hooks/facts.ts';
import type { Answer, Handler, HandlerSource } from '../../src/hooks/handler.ts';
import { createHost, type Host, type HostOptions } from '../../src/host/create-host.ts';

/** A temporary home and workspace, and a host in it that writes down what happens. */
export interface AgentFixture {
  readonly home: string;
  readonly workspace: string;
  /** Every event that reached an in-process handler, in order. */
  readonly fired: HookEvent[];
  /** What programs that are hooks wrote down. */
  log(): readonly string[];
  readonly runtimeEvents: RuntimeEvent[];
  write(name: string, text: string): string;
  open(options: HostOptions): Promise<Host>;
}

export type Reaction = (event: HookEvent) => Answer | undefined;

export function createAgentFixture(react: Reaction = () => undefined): AgentFixture {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'hookline-agent-')));
  const home = path.join(directory, 'home');
  const workspace = path.join(directory, 'workspace');
  mkdirSync(home);
  mkdirSync(path.join(workspace, '.git'), { recursive: true });
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const fired: HookEvent[] = [];
  const receivedEvents: RuntimeEvent[] = [];
  const logFile = path.join(directory, 'log');
  const recorder = recordingSource((event) => {
    fired.push(event);
    return react(event);
  });
  return {
    home,
    workspace,
    fired,
    runtimeEvents: receivedEvents,
    log: () => (existsSync(logFile) ? readFileSync(logFile, 'utf8').trim().split('\n') : []),
    write(name, text) {
      const file = path.join(name.startsWith('~/') ? home : workspace, name.replace(/^~\//, ''));
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text.replaceAll('$LOG', logFile));
      chmodSync(file, 0o755);
      return file;
    },
    async open(options) {
      const env = { PATH: process.env['PATH'], HOME: home, USER: 'tester' };
      const host = await createHost({
        cwd: workspace,
        roots: [workspace],
        surroundings: {
          cwd: workspace,
          env,
          home,
          platform: process.platform,
          nodePath: process.execPath,
        },
        ...options,
        sources: [...(options.sources ?? []), recorder],
      });
      host.subscribe((event) => receivedEvents.push(event));
      onTestFinished(() => host.dispose());
      return host;
    },
  };
}

function recordingSource(react: Reaction): HandlerSource {
  const handlers = EVENT_NAMES.map((event): Handler => ({
    id: `inline:${event}`,
    dialect: 'inline',
    source: 'the test',
    event,
    vocabulary: 'claude',
    onFailure: 'open',
    run: (input) => react(input.event),
  }));
  return { handlers: () => handlers };
}

/** The event's name, and what distinguishes it from others of that name. */
export function label(event: HookEvent): string {
  const agent = event.agent.parentId === null ? '' : ' in a sub-agent';
  return `${event.name}${detail(event)}${agent}`;
}

function detail(event: HookEvent): string {
  if ('tool' in event) return ` ${event.tool.name}`;
  switch (event.name) {
    case 'SessionStart':
      return ` ${event.source}`;
    case 'SessionEnd':
      return ` ${event.reason}`;
    case 'RunEnd':
      return ` ${event.status}`;
    default:
      return '';
  }
}

/** Settings in Claude's format in which a command for each of these events writes its name down. */
export function loggingSettings(events: readonly string[]): string {
  const entry = (event: string) => [
    { hooks: [{ type: 'command', command: `cat > /dev/null; echo claude:${event} >> "$LOG"` }] },
  ];
  return JSON.stringify({
    hooks: Object.fromEntries(events.map((event) => [event, entry(event)])),
  });
}

export function loggingScript(event: string): string {
  return `#!/bin/sh\ncat > /dev/null\necho cline:${event} >> "$LOG"\n`;
}
