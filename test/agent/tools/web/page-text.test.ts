import { expect, onTestFinished, test } from 'vitest';
import { extractReadablePage } from '../../../../src/agent/tools/web/page-text.ts';

const url = new URL('https://pages.example/a/b');
const never = new AbortController().signal;

test('keeps what matters and resolves links', async () => {
  const html =
    '<html><head><title>T</title></head><body><nav>menu</nav><main><p>See <a href="../c">this</a>, it is worth reading.</p></main><footer>foot</footer></body></html>';
  expect(await extractReadablePage(html, url, never)).toEqual({
    markdown: '# T\n\nSee [this](https://pages.example/c), it is worth reading.',
  });
});

test('gives up when its time is over, and when it is interrupted', async () => {
  const html = `<html><body>${'<div>'.repeat(200_000)}deep</body></html>`;
  expect(await extractReadablePage(html, url, never, 1)).toEqual({
    failure: 'it took longer than 0.001 s',
  });
  expect(await extractReadablePage(html, url, AbortSignal.abort())).toHaveProperty('failure');
});

test('gives up on a page that keeps every parser busy, and the host goes on meanwhile', async () => {
  const html = `<html><body>${'<div>'.repeat(200_000)}deep</body></html>`;
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 5);
  onTestFinished(() => clearInterval(ticking));
  expect(await extractReadablePage(html, url, never, 2000)).toHaveProperty('failure');
  expect(ticks).toBeGreaterThan(10);
});
