import { randomUUID } from 'node:crypto';
import { deliverEvent, WAIT_MS } from '../../src/bridge/forward/deliver-event.ts';
import { storeEvents } from '../../src/bridge/fallback-file.ts';
import { getRunFile, readRunFile } from '../../src/bridge/run-file.ts';

// A client that does for many events what a forwarder does for one.
const [stateDirectory = '', directory = '', agent = '', count = '0'] = process.argv.slice(2);
for (let n = 0; n < Number(count); n++) {
  const eventId = randomUUID();
  const text = JSON.stringify({
    hook_event_name: 'PreToolUse',
    session_id: agent,
    n,
    text: 'x'.repeat(300),
  });
  const bridge = readRunFile(getRunFile(stateDirectory));
  const failures =
    bridge === null
      ? []
      : await deliverEvent({
          agent: 'claude',
          eventId,
          body: Buffer.from(text),
          waitMs: WAIT_MS,
          ports: [bridge.port],
          knownPorts: [],
          bridge,
        });
  const isDelivered = failures === null;
  if (!isDelivered) storeEvents(directory, 'claude', { id: eventId, receivedAt: Date.now(), text });
  // Acknowledged by the bridge, or by a write to the file.
  process.stdout.write(`${eventId} ${isDelivered ? 'bridge' : 'file'}\n`);
}
