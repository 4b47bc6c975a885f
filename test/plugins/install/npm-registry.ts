import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

/** A package's files by name; `package.json` has its name and version. */
export type PackageFiles = Readonly<Record<string, string>>;

export interface Registry {
  readonly url: string;
  /** Variables that have npm use it, and nothing of this machine's own. */
  readonly env: Readonly<Record<string, string>>;
  /** Every path that was asked for. */
  readonly asked: readonly string[];
  publish(files: PackageFiles): void;
}

interface Published {
  readonly manifest: Readonly<Record<string, unknown>> & { name: string; version: string };
  readonly tarball: Buffer;
}

/** A registry on loopback that knows these packages, closed after the test. */
export async function openRegistry(
  directory: string,
  packages: readonly PackageFiles[] = [],
): Promise<Registry> {
  const published: Published[] = [];
  const requestedUrls: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    requestedUrls.push(path);
    const answer = answerTo(path, published, addressOf(server));
    response.writeHead(answer === null ? 404 : 200, {
      'content-type': Buffer.isBuffer(answer) ? 'application/octet-stream' : 'application/json',
    });
    response.end(answer ?? '{"error":"not found"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const publish = (files: PackageFiles): void => {
    const manifest = JSON.parse(files['package.json'] ?? '{}');
    published.push({ manifest, tarball: packed(files) });
  };
  packages.forEach(publish);
  return {
    url: addressOf(server),
    env: npmEnvironment(addressOf(server), directory),
    asked: requestedUrls,
    publish,
  };
}

/** npm reads no configuration of this machine, and keeps its cache to itself. */
export function npmEnvironment(registry: string, directory: string): Record<string, string> {
  return {
    npm_config_registry: registry,
    npm_config_cache: `${directory}/npm-cache`,
    npm_config_userconfig: `${directory}/no-npmrc`,
    npm_config_globalconfig: `${directory}/no-global-npmrc`,
  };
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function answerTo(path: string, all: readonly Published[], url: string): string | Buffer | null {
  const tarball = all.find(({ manifest }) => path === tarballPath(manifest));
  if (tarball !== undefined) return tarball.tarball;
  const versions = all.filter(({ manifest }) => path === `/${manifest.name}`);
  const latest = versions.at(-1)?.manifest;
  if (latest === undefined) return null;
  return JSON.stringify({
    name: latest.name,
    'dist-tags': { latest: latest.version },
    versions: Object.fromEntries(
      versions.map((each) => [each.manifest.version, described(each, url)]),
    ),
  });
}

function described({ manifest, tarball }: Published, url: string) {
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  return {
    ...manifest,
    dist: { tarball: `${url.slice(0, -1)}${tarballPath(manifest)}`, integrity },
  };
}

function tarballPath({ name, version }: { name: string; version: string }): string {
  return `/${name}/-/${name.split('/').at(-1)}-${version}.tgz`;
}

/** The same that `npm pack` makes: everything lies in `package/`. */
export function packed(files: PackageFiles): Buffer {
  const parts = Object.entries(files).flatMap(([name, text]) => {
    const bytes = Buffer.from(text);
    const padding = Buffer.alloc((512 - (bytes.length % 512)) % 512);
    return [tarHeader(`package/${name}`, bytes.length), bytes, padding];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(1024)]));
}

function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
