import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { type ScriptTurn, createScriptedModel } from '../../src/agent/models/scripted.ts';
import { createTempWorkspace, openHost, type TempWorkspace } from '../temp-workspace.ts';
import { DONE, refuseUnlessDone } from '../reading.ts';
import type { Contest, Row, RowOptions } from '../row.ts';

/** What an editor waits for beside the agent itself. */
export const acpRows: readonly Row[] = [
  {
    name: 'hookline acp: a prompt and its answer, over the protocol',
    bound: { of: 'more', atMost: 5, because: 'against the same prompt in process' },
    open: openRoundTrips,
  },
];

const PROMPT = 'answer';
// More than all attempts together take.
const TURNS: readonly ScriptTurn[] = Array.from({ length: 10_000 }, () => ({ text: DONE }));

async function openRoundTrips({ project, quick }: RowOptions): Promise<Contest> {
  const editor = await openEditor(project);
  const place = createTempWorkspace();
  const host = await openHost(place, { model: createScriptedModel(TURNS) });
  const { sessionId } = await host.start({});
  return {
    samples: quick ? 50 : 300,
    batch: 1,
    us: editor.prompt,
    bare: async () => refuseUnlessDone(await host.send(sessionId, PROMPT)),
    async close() {
      await editor.close();
      await host.dispose();
      place.remove();
    },
  };
}

interface Editor {
  prompt(): Promise<void>;
  close(): Promise<void>;
}

async function openEditor(project: string): Promise<Editor> {
  const place = createTempWorkspace();
  const child = startProgram(project, place);
  let answerText = '';
  const { agent } = client({ name: 'bench' })
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate !== 'agent_message_chunk') return;
      if (update.content.type === 'text') answerText += update.content.text;
    })
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  await agent.request(methods.agent.initialize, { protocolVersion: 1 });
  const { sessionId } = await agent.request(methods.agent.session.new, {
    cwd: place.workspace,
    mcpServers: [],
  });
  const exited = once(child, 'exit');
  return {
    async prompt() {
      answerText = '';
      const { stopReason } = await agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: 'text', text: PROMPT }],
      });
      if (stopReason !== 'end_turn' || answerText !== DONE) {
        throw new Error(`expected an answer, found ${stopReason}: ${answerText}`);
      }
    },
    async close() {
      child.stdin.end();
      await exited;
      place.remove();
    },
  };
}

function startProgram(project: string, { home, workspace, surroundings }: TempWorkspace) {
  const script = path.join(home, 'script.json');
  writeFileSync(script, JSON.stringify(TURNS));
  const program = path.join(project, 'dist', 'bin', 'hookline.js');
  return spawn(process.execPath, [program, 'acp', '--script', script], {
    cwd: workspace,
    env: { ...surroundings.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}
