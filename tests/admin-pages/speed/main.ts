import { loadavg } from 'node:os';
import { builtPages } from '../../harness/browser/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../../harness/browser/browser.ts';
import { textAt } from '../../harness/json.ts';
import { startReceiver } from '../../harness/servers/receiver.ts';
import { startStack } from '../../harness/stacks/stack.ts';
import { openSignedIn } from '../watched-page.ts';
import { deliver, fillCollections, fillMany, fillWide } from './fill.ts';
import { measureFirstRow, measureKeystroke } from './measure.ts';

/**
 * Measures the figures in docs/admin-pages.md: `npm run bench:pages`. `PAGES_RECORDS` is how many records the large
 * collection has.
 */
const records = Number(process.env.PAGES_RECORDS ?? 1_000_000);
const perMinute = 10_000;

const gridRow = 'tbody a[data-row]';
const grid = (name: string) => `/_/collections/${name}/records`;

if (skipWithoutBrowser) throw new Error(skipWithoutBrowser);
await using receiver = await startReceiver();
const stack = await startStack({ topology: 'one', environment: { SERVICE_PAGES_DIR: await builtPages() } });
const browser = await startBrowser();
const traffic = new AbortController();
let sending: Promise<void> | undefined;

try {
  const admin = await stack.admin();
  const tell = (text: string): void => {
    process.stderr.write(`${text}\n`);
  };
  tell(`Filling the stack with ${records.toLocaleString('en')} records`);
  await fillMany(admin, records);
  await fillWide(admin);
  await admin.post('/api/v1/collections', { name: 'sent', fields: [{ name: 'title', type: 'text' }] });
  await fillCollections(admin, 3);
  await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '127.0.0.1' });
  const hook = await admin.post('/api/v1/admin/webhooks', { name: 'bench', url: receiver.url, events: ['sent.*'] });
  const { page } = await openSignedIn(browser, stack.url, { viewport: { width: 1280, height: 900 } });

  const measure = async (name: string, path: string, row: string): Promise<void> => {
    const first = await measureFirstRow(page, path, row);
    const key = await measureKeystroke(page);
    const load = loadavg()[0]?.toFixed(1);
    process.stdout.write(
      `| ${name} | ${first.median} ms (${first.p95} ms) | ${key.median} ms (${key.p95} ms) | ${load} |\n`,
    );
  };

  process.stdout.write('| screen | first row, median (p95) | keystroke, median (p95) | load |\n|---|---:|---:|---:|\n');
  await measure(`records of ${records.toLocaleString('en')}`, grid('million'), gridRow);
  await page.goto(stack.url + grid('wide'));
  await page.locator('summary', { hasText: 'Columns' }).click();
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await measure('200 columns', grid('wide'), gridRow);
  await measure('500 collections', '/_/collections', 'tbody td.number');
  sending = deliver(admin, perMinute, traffic.signal);
  await receiver.received(perMinute / 30, 60_000);
  await measure('events', '/_/events', '.feed li');
  await measure('deliveries', `/_/webhooks/${textAt(hook, 'id')}`, gridRow);
  await measure('requests', '/_/requests?principal_type=admin', gridRow);
} finally {
  traffic.abort();
  await sending?.catch(() => undefined);
  await browser.close();
  await stack.stop();
}
