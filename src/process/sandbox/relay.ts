import type { SpawnRequest } from '../spawn.ts';

/**
 * The first program in a sandbox whose only way out is a Unix socket: it listens on a port of the
 * sandbox's own loopback device, because programs know proxies by host and port, and passes each
 * connection on. It starts the command and ends as that does. Text, because it runs in a process of its
 * own, in which nothing of this package is needed.
 */
const RELAY = `
const { createServer, connect } = require('node:net');
const { spawn } = require('node:child_process');
const [socket, file, ...args] = process.argv.slice(1);
const ignore = () => {};
const server = createServer((client) => {
  const way = connect(socket);
  client.on('error', ignore).on('close', () => way.destroy());
  way.on('error', ignore).on('close', () => client.destroy());
  client.pipe(way).pipe(client);
});
server.listen(0, '127.0.0.1', () => {
  const proxy = 'http://127.0.0.1:' + server.address().port;
  const names = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((n) => [n, n.toUpperCase()]);
  const env = { ...process.env, NODE_USE_ENV_PROXY: '1', no_proxy: 'localhost,127.0.0.1', NO_PROXY: 'localhost,127.0.0.1' };
  for (const name of names) env[name] = proxy;
  const child = spawn(file, args, { env, stdio: 'inherit' });
  child.on('error', (error) => { process.stderr.write(String(error.message) + '\\n'); process.exit(127); });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.exit(128 + require('node:os').constants.signals[signal]);
  });
});
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, ignore);
`;

/** The program, started by a relay to the proxy that listens on `socket`. */
export function startThroughRelay(
  request: SpawnRequest,
  { nodePath, socket }: { readonly nodePath: string; readonly socket: string },
): SpawnRequest {
  return {
    ...request,
    file: nodePath,
    args: ['-e', RELAY, '--', socket, request.file, ...request.args],
  };
}
