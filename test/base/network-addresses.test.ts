import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from 'vitest';
import {
  findAddressRefusal,
  createGuardedLookup,
  isLoopbackHost,
  type Reach,
} from '../../src/base/network-addresses.ts';

/** Whether a host with this address may be called. */
function canReach(address: string, reach: Reach): boolean {
  const lookup = createGuardedLookup(reach, (_host, callback) =>
    callback(null, [{ address, family: 4 }]),
  );
  let isRefused = false;
  lookup('host', {}, (error) => {
    isRefused = error !== null;
  });
  return !isRefused;
}

describe('an address', () => {
  test('of the internet can be reached in both families', () => {
    const open = ['93.184.215.14', '2606:2800:21f:cb07::1', '::ffff:8.8.8.8', '64:ff9b::808:808'];
    expect(open.filter((address) => !canReach(address, 'public'))).toEqual([]);
  });

  test('that is invalid can never be reached', () => {
    expect(['', 'x', '10.0.0', '1.2.3.4.5'].filter((text) => canReach(text, 'any'))).toEqual([]);
  });

  test('of this machine, a private network or a cloud’s own services is not of the internet', () => {
    const inside = [
      '127.0.0.1',
      '127.8.8.8',
      '::1',
      '::ffff:127.0.0.1',
      '10.0.0.1',
      '172.31.0.1',
      '192.168.0.1',
      '169.254.169.254',
      '64:ff9b::a9fe:a9fe',
      '168.63.129.16',
      'fd00:ec2::254',
      'fe80::1',
      '0.0.0.0',
      '::',
    ];
    expect(inside.filter((address) => canReach(address, 'public'))).toEqual([]);
    expect(inside.filter((address) => canReach(address, 'loopback'))).toEqual(inside.slice(0, 4));
  });

  test.each<[string, Reach, string | null]>([
    ['https://10.0.0.1/x', 'public', '10.0.0.1 is a private or reserved address'],
    ['https://[::1]:8/x', 'public', '::1 is a private or reserved address'],
    ['https://8.8.8.8/x', 'loopback', '8.8.8.8 is not this machine'],
    ['https://10.0.0.1/x', 'any', null],
    ['https://localhost/x', 'public', null],
  ])('in %s, reaching %s', (url, reach, refusal) => {
    expect(findAddressRefusal(new URL(url), reach)).toBe(refusal);
  });
});

describe('a name', () => {
  test('of this machine is recognised by its spelling', () => {
    const names = ['localhost', 'LOCALHOST.', 'a.localhost', '127.0.0.1', 'nolocalhost', 'x.y'];
    expect(names.filter(isLoopbackHost)).toEqual(names.slice(0, 4));
  });

  function look(addresses: readonly LookupAddress[]): Promise<unknown> {
    const lookup = createGuardedLookup('public', (_name, found) => found(null, addresses));
    return new Promise((resolve) => {
      lookup('pages.example', { all: true }, (error, found) => resolve(error ?? found));
    });
  }

  test('gives the addresses that were checked', async () => {
    const open = [{ address: '8.8.8.8', family: 4 }];
    expect(await look(open)).toEqual(open);
  });

  test('is refused when any of its addresses is out of reach, or when it has none', async () => {
    const mixed = [
      { address: '8.8.8.8', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ];
    expect(await look(mixed)).toMatchObject({
      message: 'pages.example is at 10.0.0.1, which is a private or reserved address',
      isOutOfReach: true,
    });
    expect(await look([])).toMatchObject({
      message: 'pages.example has no address',
      isOutOfReach: false,
    });
  });
});
