import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { builtPages } from '../../harness/browser/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../../harness/browser/browser.ts';
import { startReceiver } from '../../harness/servers/receiver.ts';
import { repository, startStack } from '../../harness/stacks/stack.ts';
import { openSignedIn } from '../watched-page.ts';
import { fillShop, type Shop } from './shop.ts';

/** Takes the pictures for docs/admin-pages.md: `npm run docs:pictures`. */
const directory = join(repository, 'docs/pictures');

const pictures = ({ event }: Shop) => [
  { name: 'collections', path: '/_/', shows: 'can create', colorScheme: 'light' as const },
  { name: 'records', path: '/_/collections/books/records', shows: 'Kindred', colorScheme: 'light' as const },
  { name: 'events', path: '/_/events', shows: 'newsletter', colorScheme: 'dark' as const },
  { name: 'event', path: `/_/events/${event}`, shows: 'Changes', colorScheme: 'light' as const },
  { name: 'health', path: '/_/health?range=15m', shows: 'all in one', colorScheme: 'dark' as const },
];

if (skipWithoutBrowser) throw new Error(skipWithoutBrowser);
mkdirSync(directory, { recursive: true });
await using receiver = await startReceiver();
const stack = await startStack({ topology: 'one', environment: { SERVICE_PAGES_DIR: await builtPages() } });
const browser = await startBrowser();
try {
  const shop = await fillShop(await stack.admin(), receiver);
  for (const { name, path, shows, colorScheme } of pictures(shop)) {
    const options = { viewport: { width: 1200, height: 760 }, colorScheme, reducedMotion: 'reduce' as const };
    const { page } = await openSignedIn(browser, stack.url, options);
    await page.goto(stack.url + path);
    await page.locator('#content').getByText(shows).filter({ visible: true }).first().waitFor();
    if (name === 'health')
      await page
        .getByRole('img', { name: /^Requests: ok/ })
        .locator('rect')
        .first()
        .waitFor();
    if (name === 'event') await page.locator('main .feed li').first().waitFor();
    if (name === 'collections') await page.getByRole('cell', { name: '12', exact: true }).waitFor();
    if (name === 'records') await page.getByTitle('Changes appear here immediately').waitFor();
    await page.screenshot({ path: join(directory, `${name}.png`) });
    await page.context().close();
    process.stdout.write(`docs/pictures/${name}.png\n`);
  }
} finally {
  await browser.close();
  await stack.stop();
}
