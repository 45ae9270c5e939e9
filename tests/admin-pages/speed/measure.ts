import type { Page } from 'playwright-core';

/** The median and the 95th percentile of measured times, in milliseconds. */
export interface Times {
  readonly median: number;
  readonly p95: number;
}

const rounds = 20;

function timesOf(values: readonly number[]): Times {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (part: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0);
  return { median: at(0.5), p95: at(0.95) };
}

/** In the page: follows a link and returns the time until a row is on the screen. */
const opened = `([path, row]) => new Promise((resolve) => {
  const link = Object.assign(document.createElement('a'), { href: path });
  document.body.append(link);
  const begunAt = performance.now();
  link.click();
  link.remove();
  const look = () => {
    if (location.pathname === path.split('?')[0] && document.querySelector(row)) resolve(performance.now() - begunAt);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;

/** Measures the time from a click to a screen's first row. Each round starts from a page without rows. */
export async function measureFirstRow(page: Page, path: string, row: string): Promise<Times> {
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await page.evaluate(`(${opened})(['/_/new-collection', '#fields-title'])`);
    values.push(Number(await page.evaluate(`(${opened})(${JSON.stringify([path, row])})`)));
  }
  return timesOf(values);
}

/** In the page: notes the time from each key to the next painted frame. */
const watchKeys = `() => {
  globalThis.keyTimes = [];
  addEventListener('keydown', ({ timeStamp }) => {
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => keyTimes.push(performance.now() - timeStamp);
      channel.port2.postMessage(undefined);
    });
  }, true);
}`;

/** Measures the time from a key in a screen's search or filter to the drawn letter. */
export async function measureKeystroke(page: Page): Promise<Times> {
  await page.evaluate(`(${watchKeys})()`);
  await page.locator('main h1').click();
  await page.keyboard.press('/');
  await page.evaluate('keyTimes.length = 0');
  await page.keyboard.type('some text of a filter', { delay: 80 });
  return timesOf(await page.evaluate<number[]>('keyTimes'));
}
