import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';

// A client as the published description of `MinimalHook` has it: no id, no lock, no secret.
const [agent = '', port = '', directory = ''] = process.argv.slice(2);
const route = `${agent}-hook`;
const eventsFile = path.join(directory, `${route}-events.json`);
const errorsFile = path.join(directory, `${route}-events-errors.json`);

const data = readFileSync(0, 'utf8');
send(data).then(
  () => process.exit(0),
  (reason: unknown) => {
    const error = reason instanceof Error ? reason : new TypeError(String(reason));
    appendTo(errorsFile, {
      timestamp: new Date().toISOString(),
      context: 'http_send_failed',
      error: { message: error.message, stack: error.stack, name: error.name },
      additionalData: { path: route, dataLength: data.length },
      __hook_error_logged: Date.now(),
    });
    appendTo(eventsFile, { ...toEvent(data), ...stamp() });
    process.exit(0);
  },
);

function send(body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    };
    const options = { hostname: 'localhost', port, path: `/${route}`, method: 'POST', headers };
    const sent = request({ ...options, timeout: 5000 }, (response) => {
      response.resume();
      const isTaken = response.statusCode === 200 || response.statusCode === 201;
      if (isTaken) resolve();
      else reject(new TypeError(`HTTP ${response.statusCode}`));
    });
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new TypeError('timeout')));
    sent.write(body);
    sent.end();
  });
}

function toEvent(text: string): object {
  try {
    return JSON.parse(text);
  } catch {
    return { __hook_raw: text };
  }
}

function stamp(): object {
  return { __hook_timestamp: new Date().toISOString(), __hook_received: Date.now() };
}

function appendTo(file: string, element: object): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(file, JSON.stringify([...readList(file), element], null, 2));
}

function readList(file: string): readonly unknown[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}
