/** Runs in a worker: makes one page readable and posts it. The build writes its packages into it. */
import { parentPort, workerData } from 'node:worker_threads';
import { Defuddle } from 'defuddle/node';
import { parseHTML } from 'linkedom';
import { getErrorMessage } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';

// The types of both packages need those of a browser.
interface PageDocument {
  readonly body: { readonly textContent: string | null };
}
const parsePage: (html: string) => { readonly document: PageDocument } = parseHTML;
const extractContent: (
  document: PageDocument,
  url: string,
  options: object,
) => Promise<{ readonly title: string; readonly content: string }> = Defuddle;

async function readPage(html: string, url: string): Promise<string> {
  const whole = /<body[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`;
  const { document } = parsePage(whole);
  // Read before the content is extracted, which takes the page apart.
  const everything = document.body.textContent ?? '';
  const { title, content } = await extractContent(document, url, {
    markdown: true,
    useAsync: false,
  });
  const text = content.trim() || everything.trim();
  return title && !text.startsWith('# ') ? `# ${title}\n\n${text}` : text;
}

const page: unknown = workerData;
if (isRecord(page)) {
  // `postMessage` of a worker has no target: the rule is about windows.
  const post = parentPort?.postMessage.bind(parentPort);
  readPage(String(page['html']), String(page['url'])).then(
    (markdown) => post?.({ markdown }),
    (error: unknown) => post?.({ failure: getErrorMessage(error) }),
  );
}
