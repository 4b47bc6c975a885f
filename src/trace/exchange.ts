import type { Exchange } from '../hooks/handler.ts';
import type { DispatchSubscriber, RecordedExchange } from '../hooks/dispatch-record.ts';

/** The input and output of a hook as text, for debugging. */
export interface DecodedExchange extends Omit<Exchange, 'payload'> {
  /** The id of the dispatch in the trace. */
  readonly dispatchId: string;
  readonly hook: string;
  readonly payload: string;
}

/** Subscribes to the exchanges of dispatches alone, by default with all hooks. */
export function createExchangeSubscriber(
  onExchange: (exchange: DecodedExchange) => void,
  isWanted: (hook: string) => boolean = () => true,
): DispatchSubscriber {
  const report = (dispatchId: string, exchanges: readonly RecordedExchange[]): void => {
    for (const recorded of exchanges) {
      const { pass: _pass, part: _part, vocabulary: _vocabulary, payload, ...exchange } = recorded;
      if (!isWanted(exchange.hook)) continue;
      onExchange({ ...exchange, dispatchId, payload: decodePayload(payload) });
    }
  };
  return {
    wantsExchanges: true,
    onDispatch: ({ id, exchanges }) => report(id, exchanges),
    onLate: ({ dispatchId, exchanges }) => report(dispatchId, exchanges),
  };
}

/** The text of a payload, or of its first bytes. A character that the limit splits is left out. */
export function decodePayload(payload: Uint8Array, maxBytes: number = payload.length): string {
  const isCut = payload.length > maxBytes;
  return new TextDecoder().decode(payload.subarray(0, maxBytes), { stream: isCut });
}
