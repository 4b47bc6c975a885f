import type * as acp from '@agentclientprotocol/sdk';

/** The editor's MCP servers as the text that would configure them; none for none. */
export function mcpConfigOf(servers: readonly acp.McpServer[]): readonly string[] {
  if (servers.length === 0) return [];
  const entries = servers.map((server): [string, object] => [server.name, entryOf(server)]);
  return [JSON.stringify({ mcpServers: Object.fromEntries(entries) })];
}

function entryOf(server: acp.McpServer): object {
  if ('url' in server) {
    const { type, url, headers } = server;
    return { type, url, headers: recordOf(headers) };
  }
  const { command, args, env } = server;
  return { command, args, env: recordOf(env) };
}

function recordOf(pairs: readonly (acp.HttpHeader | acp.EnvVariable)[]): object {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
