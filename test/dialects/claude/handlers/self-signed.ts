import { generateKeyPairSync, sign } from 'node:crypto';

export interface SelfSigned {
  readonly key: string;
  readonly cert: string;
}

/** A new key and a certificate for localhost and 127.0.0.1 that is self-signed. */
export function createSelfSigned(): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = sequence(
    tagged(0xa0, integer(2)),
    integer(1),
    ECDSA_WITH_SHA256,
    NAME,
    sequence(tagged(0x17, text('250101000000Z')), tagged(0x17, text('490101000000Z'))),
    NAME,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(basicConstraints(), alternativeNames())),
  );
  const signature = sign('sha256', body, privateKey);
  const der = sequence(body, ECDSA_WITH_SHA256, bits(signature));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

function integer(value: number): Buffer {
  return tagged(0x02, Buffer.from([value]));
}

function bits(content: Buffer): Buffer {
  return tagged(0x03, Buffer.from([0]), content);
}

function text(value: string): Buffer {
  return Buffer.from(value, 'latin1');
}

function objectId(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'));
}

const ECDSA_WITH_SHA256 = sequence(objectId('2a8648ce3d040302'));
const COMMON_NAME = objectId('550403');
const NAME = sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, text('localhost')))));

function basicConstraints(): Buffer {
  const isAuthority = sequence(tagged(0x01, Buffer.from([0xff])));
  return sequence(objectId('551d13'), tagged(0x04, isAuthority));
}

function alternativeNames(): Buffer {
  const names = sequence(
    tagged(0x82, text('localhost')),
    tagged(0x87, Buffer.from([127, 0, 0, 1])),
  );
  return sequence(objectId('551d11'), tagged(0x04, names));
}
