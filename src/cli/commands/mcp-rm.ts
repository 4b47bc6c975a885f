import { HooklineError } from '../../base/errors.ts';
import { findClosestName } from '../../base/spelling.ts';
import { removeServer } from '../../dialects/claude-config/mcp/edit-servers.ts';
import type { Host } from '../../host/create-host.ts';
import { findServers, serverPlace } from '../../host/mcp/find-servers.ts';
import { openHooks } from '../../host/open-hooks.ts';
import { type Command, hostOptions, refuseInsideSession, withHost } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { editServers, type ServerScope } from '../state/servers-file.ts';
import { oneLine } from '../words/print.ts';

export interface RemoveServerOptions {
  readonly name: string;
  readonly scope?: ServerScope;
}

/** `hookline mcp rm NAME`: takes a server out of the file that Hookline, or `.mcp.json`, has it in. */
export const removeMcpServer: Command<RemoveServerOptions> = (context, { name, scope }) => {
  refuseInsideSession(context, 'mcp rm');
  return withHost(context, async (host) => {
    const scopes: readonly ServerScope[] = scope === undefined ? ['user', 'project'] : [scope];
    for (const each of scopes) {
      const file = await removeFrom(host, each, name);
      if (file === null) continue;
      if (context.flags.json === true) context.print.json({ removed: { name, file } });
      else context.print.out(`Removed the MCP server ${oneLine(name)} from ${oneLine(file)}.`);
      return EXIT.fine;
    }
    throw unknown(name, hostOptions(context.flags));
  });
};

/** The file that it was in; null when it was not there. */
async function removeFrom(host: Host, scope: ServerScope, name: string): Promise<string | null> {
  let isThere = false;
  const file = await editServers(host, scope, (text) => {
    const without = removeServer(text, name);
    isThere = without !== null;
    return without ?? text;
  });
  return isThere ? file : null;
}

function unknown(name: string, search: Parameters<typeof openHooks>[0]): HooklineError {
  const opened = openHooks(search);
  const all = findServers(opened, []).servers.map(({ config }) => config);
  const elsewhere = all.find((config) => config.name === name);
  if (elsewhere !== undefined) {
    return new HooklineError('MCP_FAILED', {
      message: `the MCP server ${JSON.stringify(name)} is configured in ${serverPlace(elsewhere, opened)}, which belongs to another program`,
      hint: 'Remove it there.',
    });
  }
  const close = findClosestName(
    name,
    all.map((config) => config.name),
  );
  return new HooklineError('MCP_FAILED', {
    message: `no MCP server is called ${JSON.stringify(name)}`,
    hint: close === null ? '`hookline mcp list` shows all.' : `Did you mean ${close}?`,
  });
}
