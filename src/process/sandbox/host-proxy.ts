import { createServer, type Server, type Socket, connect } from 'node:net';
import { chmodSync } from 'node:fs';

/** A proxy on a Unix socket that connects to some hosts only: the way out of a sandbox without a network. */
export interface HostProxy {
  readonly socket: string;
  close(): void;
}

/** Rejects when the socket cannot be made. */
export function startHostProxy(
  socket: string,
  isReachable: (host: string) => boolean,
): Promise<HostProxy> {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.on('error', ignoreError);
    readHead(client, (head, rest) => serveClient(client, head, rest, isReachable));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, () => {
      chmodSync(socket, 0o600);
      server.unref();
      resolve({ socket, close: () => closeAll(server, clients) });
    });
  });
}

function closeAll(server: Server, clients: ReadonlySet<Socket>): void {
  server.close();
  for (const client of clients) client.destroy();
}

const MAX_HEAD_BYTES = 64 * 1024;
const HEAD_END = '\r\n\r\n';

/** Reads up to the empty line that ends the head of a request. */
function readHead(client: Socket, onHead: (head: string, rest: Buffer) => void): void {
  let received: Buffer = Buffer.alloc(0);
  const listen = (chunk: Buffer): void => {
    received = Buffer.concat([received, chunk]);
    const end = received.indexOf(HEAD_END);
    if (end === -1 && received.length > MAX_HEAD_BYTES) return void client.destroy();
    if (end === -1) return;
    client.off('data', listen);
    client.pause();
    onHead(received.subarray(0, end).toString('latin1'), received.subarray(end));
  };
  client.on('data', listen);
}

function serveClient(
  client: Socket,
  head: string,
  rest: Buffer,
  isReachable: (host: string) => boolean,
): void {
  const request = parseRequest(head);
  if (request === null) return refuse(client, '400 Bad Request', 'Expected a request to a proxy.');
  const { host, port } = request;
  if (!isReachable(host)) {
    return refuse(client, '403 Forbidden', `The network of the sandbox does not include ${host}.`);
  }
  const target = connect(port, host);
  target.on('error', () => refuse(client, '502 Bad Gateway', `${host} cannot be reached.`));
  target.once('connect', () => {
    if (request.head === null) client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    else target.write(Buffer.concat([Buffer.from(request.head, 'latin1'), rest]));
    if (request.head === null && rest.length > HEAD_END.length) {
      target.write(rest.subarray(HEAD_END.length));
    }
    client.pipe(target).pipe(client);
  });
  client.on('close', () => target.destroy());
  target.on('close', () => client.destroy());
}

interface ProxyRequest {
  readonly host: string;
  readonly port: number;
  /** The head to send on; null for a tunnel. */
  readonly head: string | null;
}

function parseRequest(head: string): ProxyRequest | null {
  const [line = '', ...fields] = head.split('\r\n');
  const [, tunnelHost, tunnelPort] =
    /^CONNECT ([^\s:]+):(\d{1,5}) HTTP\/1\.[01]$/i.exec(line) ?? [];
  if (tunnelHost !== undefined) {
    return { host: tunnelHost.toLowerCase(), port: Number(tunnelPort), head: null };
  }
  const [, method, address, version] = /^([A-Z]+) (http:\/\/\S+) (HTTP\/1\.[01])$/.exec(line) ?? [];
  if (address === undefined || !URL.canParse(address)) return null;
  const url = new URL(address);
  // One request per connection: the next one on it could name another host.
  const kept = fields.filter((field) => !/^(?:proxy-|connection:|keep-alive:|host:)/i.test(field));
  const lines = [
    `${method} ${url.pathname}${url.search} ${version}`,
    `Host: ${url.host}`,
    'Connection: close',
    ...kept,
  ];
  return { host: url.hostname, port: Number(url.port || 80), head: lines.join('\r\n') };
}

/** `hosts` are names, or `*.name` for all below it. A trailing dot names the same host. */
export function isAllowedHost(host: string, hosts: readonly string[]): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return hosts.some((each) =>
    each.startsWith('*.')
      ? name.endsWith(each.slice(1)) && name.length >= each.length
      : name === each,
  );
}

function refuse(client: Socket, status: string, text: string): void {
  const body = `${text}\n`;
  client.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

// A client or host that goes away closes its connection, which ends the other one.
function ignoreError(): void {}
