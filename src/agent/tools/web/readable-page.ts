import { createRequire } from 'node:module';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { getErrorMessage } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import { startTimeLimit } from '../../../base/time-limit.ts';

export type ReadablePage = { readonly markdown: string } | { readonly failure: string };

export interface WrittenPage {
  readonly html: string;
  readonly url: URL;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 20_000;
const MAX_HEAP_MB = 768;

/**
 * The main content of a page as markdown. Pages are made by strangers, and one can keep a parser busy
 * for ever or eat all memory: so it runs in a thread of its own, which can be ended.
 */
export async function readablePage(page: WrittenPage, signal: AbortSignal): Promise<ReadablePage> {
  try {
    const worker = startWorker(page);
    return await answerOf(worker, page.timeoutMs ?? TIMEOUT_MS, signal);
  } catch (error) {
    return { failure: getErrorMessage(error) };
  }
}

function startWorker({ html, url }: WrittenPage): Worker {
  const require = createRequire(import.meta.url);
  const modules = {
    linkedom: require.resolve('linkedom'),
    // Its own name for this file is only for `import`, which code without a file cannot use.
    defuddle: path.join(path.dirname(require.resolve('defuddle')), 'node.js'),
  };
  return new Worker(READER, {
    eval: true,
    // Nothing of this process's environment is needed there.
    env: {},
    execArgv: [],
    workerData: { html, url: url.href, ...modules },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    stdout: true,
    stderr: true,
  });
}

const READER = `
const { parentPort, workerData } = require('node:worker_threads');
const { parseHTML } = require(workerData.linkedom);
const { Defuddle } = require(workerData.defuddle);

async function read({ html, url }) {
  const whole = /<body[\\s>]/i.test(html) ? html : '<html><body>' + html + '</body></html>';
  const { document } = parseHTML(whole);
  const everything = document.body.textContent;
  const { title, content } = await Defuddle(document, url, { markdown: true, useAsync: false });
  const text = content.trim() || everything.trim();
  return title && !text.startsWith('# ') ? '# ' + title + '\\n\\n' + text : text;
}

read(workerData).then(
  (markdown) => parentPort.postMessage({ markdown }),
  (error) => parentPort.postMessage({ failure: String(error && error.message) }),
);
`;

function answerOf(worker: Worker, timeoutMs: number, signal: AbortSignal): Promise<ReadablePage> {
  const limit = startTimeLimit(signal, timeoutMs);
  return new Promise((resolve) => {
    const settle = (page: ReadablePage): void => {
      limit.clear();
      resolve(page);
      void worker.terminate();
    };
    const giveUp = (): void => settle({ failure: `it took longer than ${timeoutMs / 1000} s` });
    worker.once('message', (message: unknown) => settle(readMessage(message)));
    worker.on('error', (error) => settle({ failure: getErrorMessage(error) }));
    worker.once('exit', () => settle({ failure: 'its reader ended without an answer' }));
    limit.signal.addEventListener('abort', giveUp, { once: true });
    if (limit.signal.aborted) giveUp();
  });
}

function readMessage(message: unknown): ReadablePage {
  if (isRecord(message) && typeof message['markdown'] === 'string') {
    return { markdown: message['markdown'] };
  }
  const failure = isRecord(message) ? message['failure'] : null;
  return { failure: typeof failure === 'string' ? failure : 'its reader gave no answer' };
}
