import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AgentEvent } from '../../../src/compat/cline/agent-events.ts';
import { createSdkFixture, type SdkFixture, type ServiceTurn } from './sdk-fixture.ts';

export interface DiskFixture extends SdkFixture {
  /** Writes a file below the workspace. */
  write(name: string, text: string): string;
  /** The reported problems of plugins. */
  problems(): readonly string[];
}

/** A core, and a workspace with plugins in it that are trusted. */
export async function createDiskFixture(
  turns: readonly ServiceTurn[],
  files: Readonly<Record<string, string>> = {},
): Promise<DiskFixture> {
  const fixture = await createSdkFixture(turns);
  const write = (name: string, text: string): string => {
    const file = path.join(fixture.workspace, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const config: SdkFixture['config'] = (more = {}) => fixture.config({ trust: 'all', ...more });
  return {
    ...fixture,
    config,
    start: (more, input) => fixture.core.start({ config: config(more), prompt: 'go', ...input }),
    write,
    problems: () => fixture.agentEvents().flatMap(problemIn),
  };
}

function problemIn(event: AgentEvent): readonly string[] {
  const message = event.type === 'error' ? event.error.message : '';
  if (message.startsWith('plugin ')) return [message];
  return event.type === 'notice' ? [event.message] : [];
}

/** A plugin with one tool that returns its input. */
export function toolPlugin(name: string, tool: string, more = ''): string {
  return `
import { createTool, type AgentPlugin } from "@cline/core"
let calls: number = 0
const plugin: AgentPlugin = {
  name: ${JSON.stringify(name)},
  manifest: { capabilities: ["tools", "hooks"] },
  setup(api, ctx) {
    api.registerTool(createTool({
      name: ${JSON.stringify(tool)},
      description: "says so",
      inputSchema: { type: "object", properties: { a: { type: "string" } } },
      async execute(input: unknown, context) {
        calls += 1
        return { from: ${JSON.stringify(name)}, calls, input, keys: Object.keys(context).sort() }
      },
    }))
  },
  hooks: {},
  ${more}
}
export default plugin
`;
}
