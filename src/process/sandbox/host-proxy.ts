import { createServer, type Server, type Socket, connect } from 'node:net';
import { chmodSync } from 'node:fs';

/** A proxy on a Unix socket that connects to some hosts only: the way out of a sandbox without a network. */
export interface HostProxy {
  readonly socket: string;
  close(): void;
}

/** `host` as it is written in a request. */
type IsReachable = (host: string, port: number) => boolean;

/** Rejects when the socket cannot be made. */
export function startHostProxy(socket: string, isReachable: IsReachable): Promise<HostProxy> {
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

function serveClient(client: Socket, head: string, rest: Buffer, isReachable: IsReachable): void {
  const request = parseRequest(head);
  if (request === null || !isConnectable(request)) {
    return refuse(client, '400 Bad Request', 'Expected a request to a proxy.');
  }
  const { host, port } = request;
  if (!isReachable(host, port)) {
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

/**
 * The system looks a name up until its first NUL, so that only what a name can consist of may be compared
 * to the list of hosts. Node.js throws for a port that does not exist.
 */
function isConnectable({ host, port }: ProxyRequest): boolean {
  return /^[a-z0-9._-]+$|^\[[0-9a-f:.]+\]$/.test(host) && port > 0 && port < 65_536;
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
  const otherFields = fields.filter(
    (field) => !/^(?:proxy-|connection:|keep-alive:|host:)/i.test(field),
  );
  const lines = [
    `${method} ${url.pathname}${url.search} ${version}`,
    `Host: ${url.host}`,
    'Connection: close',
    ...otherFields,
  ];
  return { host: url.hostname, port: Number(url.port || 80), head: lines.join('\r\n') };
}

/** `hosts` are names, or `*.name` for all below it, each with a port or for all. A trailing dot names the same host. */
export function isAllowedHost(host: string, port: number, hosts: readonly string[]): boolean {
  const name = stripBrackets(host.toLowerCase().replace(/\.$/, ''));
  return hosts.some((each) => {
    const allowed = splitPort(each);
    if (allowed.port !== null && allowed.port !== port) return false;
    return allowed.name.startsWith('*.')
      ? name.endsWith(allowed.name.slice(1)) && name.length >= allowed.name.length
      : name === allowed.name;
  });
}

/** `a.test:443` and `[::1]:443`; an address of IPv6 without brackets has no port. */
function splitPort(host: string): { readonly name: string; readonly port: number | null } {
  const [, name = host, port = null] = /^(\[.*\]|[^:]*):(\d+)$/.exec(host) ?? [];
  return { name: stripBrackets(name), port: port === null ? null : Number(port) };
}

function stripBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

function refuse(client: Socket, status: string, text: string): void {
  const body = `${text}\n`;
  client.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

// A client or host that goes away closes its connection, which ends the other one.
function ignoreError(): void {}
