const MIB = 1024 * 1024;

/** How long one message of a server may be; what the model is shown of it is much less. */
export const MAX_MESSAGE_BYTES = 64 * MIB;

/** A server that cannot be reached, or does not keep to the protocol: a failure of foreign code. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
}
