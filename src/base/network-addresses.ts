import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { memoize } from './memoize.ts';

/** Where a request may go: this machine, public addresses, or anywhere. */
export type Reach = 'loopback' | 'public' | 'any';

/** Resolves a host name to all its addresses. */
export type ResolveHost = (
  hostname: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  /** Whether a wider reach would allow the address. */
  readonly isOutOfReach: boolean;

  constructor(message: string, { isOutOfReach }: { isOutOfReach: boolean }) {
    super(message);
    this.isOutOfReach = isOutOfReach;
  }
}

/** The host of a URL, an address without its brackets. */
export function getHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/**
 * Why a URL with an IP address may not be called: no lookup happens for it, so the guarded lookup
 * cannot refuse it. Null when it may be called, or when it has a host name.
 */
export function findAddressRefusal(url: URL, reach: Reach): string | null {
  const host = getHost(url);
  return isIP(host) !== 0 && !canReach(host, reach) ? formatRefusal(host, host, reach) : null;
}

/** Whether a host names this machine, without a lookup. */
export function isLoopbackHost(host: string): boolean {
  if (isIP(host) !== 0) return canReach(host, 'loopback');
  return /^(?:.*\.)?localhost\.?$/i.test(host);
}

function canReach(address: string, reach: Reach): boolean {
  if (isIP(address) === 0) return false;
  if (reach === 'any') return true;
  const { loopback, special } = getAddressLists();
  if (reach === 'loopback') return isListed(loopback, address);
  return !isListed(loopback, address) && !isListed(special, address);
}

/**
 * A lookup that refuses addresses out of reach. The connection is made to exactly the addresses that
 * were checked, so DNS rebinding cannot change them afterwards.
 */
export function createGuardedLookup(
  reach: Reach,
  resolve: ResolveHost = resolveBySystem,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const [first] = addresses;
      const refused = addresses.find(({ address }) => !canReach(address, reach));
      if (refused !== undefined || first === undefined) {
        const message = formatRefusal(hostname, refused?.address, reach);
        return callback(new AddressRefused(message, { isOutOfReach: refused !== undefined }), []);
      }
      if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}

function formatRefusal(host: string, address: string | undefined, reach: Reach): string {
  if (address === undefined) return `${host} has no address`;
  const subject = address === host ? host : `${host} is at ${address}, which`;
  if (reach === 'loopback') return `${subject} is not this machine`;
  return `${subject} is a private or reserved address`;
}

const resolveBySystem: ResolveHost = (hostname, callback) =>
  systemLookup(hostname, { all: true }, (error, addresses) => callback(error, addresses));

const PRIVATE_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // answers for the cloud's own services although it looks public
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

const PRIVATE_IPV6 = [
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const;

const getAddressLists = memoize(() => {
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  const special = new BlockList();
  for (const [net, bits] of PRIVATE_IPV4) {
    // BlockList itself checks IPv4 in `::ffff:` form; the NAT64 form must be added.
    special.addSubnet(net, bits, 'ipv4');
    special.addSubnet(`64:ff9b::${net}`, 96 + bits, 'ipv6');
  }
  for (const [net, bits] of PRIVATE_IPV6) special.addSubnet(net, bits, 'ipv6');
  return { loopback, special };
});

function isListed(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
