import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { builtPages } from '../harness/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser.ts';
import { textAt } from '../harness/json.ts';
import { startReceiver } from '../harness/receiver.ts';
import { firstAdmin, type Stack, startStack } from '../harness/stack.ts';
import { hostile } from './hostile-text.ts';
import { fillOperations, operationsScreens } from './operations-ground.ts';

const pictures = join(import.meta.dirname, 'screenshots');

/** Every screen: its address, and a text that it shows when it is complete. */
interface Screen {
  readonly name: string;
  readonly path: string;
  readonly shows: string;
}

async function fill(stack: Stack, receiverUrl: string): Promise<readonly Screen[]> {
  const admin = await stack.admin();
  await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '127.0.0.1' });
  const options = { values: ['draft', 'published', hostile] };
  const fields = [
    { name: 'title', type: 'text', required: true },
    { name: 'state', type: 'select', options },
    { name: 'stars', type: 'number' },
    { name: 'public', type: 'bool' },
    { name: 'when', type: 'date' },
    { name: 'place', type: 'geoPoint' },
    { name: 'data', type: 'json' },
    { name: 'picture', type: 'file' },
    { name: 'parent', type: 'relation', collection: 'posts' },
  ];
  const rules = { list_rule: null, view_rule: null, create_rule: null, update_rule: 'title != ""', delete_rule: '' };
  await admin.post('/api/v1/collections', { name: 'posts', fields, history_enabled: true, ...rules });
  const hook = await admin.post('/api/v1/admin/webhooks', {
    name: hostile.slice(0, 80),
    url: receiverUrl,
    events: ['posts.*'],
  });
  const values = {
    title: hostile,
    state: hostile,
    stars: 4.5,
    public: true,
    when: 1_780_000_000,
    data: { [hostile]: hostile },
  };
  const record = await admin.post('/api/v1/records/posts', values);
  const id = textAt(record, 'id');
  await admin.patch(`/api/v1/records/posts/${id}`, { title: `${hostile} again`, parent: id });
  const webhook = textAt(hook, 'id');
  return [
    { name: 'collections', path: '/_/', shows: 'can write' },
    { name: 'new-collection', path: '/_/new-collection', shows: 'Add field' },
    { name: 'collection-settings', path: '/_/collections/posts/settings', shows: 'Add index' },
    { name: 'records', path: '/_/collections/posts/records', shows: 'again' },
    { name: 'new-record', path: '/_/collections/posts/records?new=1', shows: 'New record in posts' },
    { name: 'record', path: `/_/collections/posts/records/${id}`, shows: 'Edit record in posts' },
    { name: 'history', path: `/_/collections/posts/records/${id}/history`, shows: 'Restore' },
    { name: 'webhooks', path: '/_/webhooks', shows: 'enabled' },
    { name: 'new-webhook', path: '/_/webhooks?new=1', shows: 'Headers, retries and timeout' },
    { name: 'deliveries', path: `/_/webhooks/${webhook}`, shows: 'posts.create' },
    { name: 'nowhere', path: '/_/nowhere', shows: 'Page not found' },
  ];
}

async function signIn(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/_/`);
  await page.getByLabel('Email').fill(firstAdmin.email);
  await page.getByLabel('Password').fill(firstAdmin.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Collections' }).waitFor();
}

describe('every screen of the admin pages', { skip: skipWithoutBrowser }, () => {
  let stack: Stack;
  let browser: Browser;
  let screens: readonly Screen[];
  const receiver = startReceiver();

  before(async () => {
    mkdirSync(pictures, { recursive: true });
    stack = await startStack({ topology: 'one', environment: { SERVICE_PAGES_DIR: await builtPages() } });
    screens = [
      ...(await fill(stack, (await receiver).url)),
      ...operationsScreens(await fillOperations(await stack.admin(), await receiver)),
    ];
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
    await (await receiver)[Symbol.asyncDispose]();
  });

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1280, 380])
      test(`${colorScheme}, ${width} px: no serious finding, nothing forbidden, nothing beyond the window`, async () => {
        const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
        const page = await context.newPage();
        page.setDefaultTimeout(30_000);
        const said: string[] = [];
        page.on('pageerror', (error) => said.push(error.message));
        page.on('dialog', (dialog) => said.push(`dialog: ${dialog.message()}`));
        page.on('console', (message) => {
          if (/Content Security Policy|Trusted/i.test(message.text())) said.push(message.text());
        });
        await signIn(page, stack.url);
        for (const { name, path, shows } of screens) {
          await page.goto(stack.url + path);
          await page.locator('#content').getByText(shows).filter({ visible: true }).first().waitFor();
          await page.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}.png`), fullPage: true });
          const excess = await page.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          );
          assert.equal(excess, 0, `${name} is wider than the window`);
          // Colours depend on the theme and positions on the width, so two of the four combinations cover both.
          if ((colorScheme === 'light') !== (width === 1280)) continue;
          const { violations } = await new AxeBuilder({ page }).analyze();
          const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
          const found = grave.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
          assert.deepEqual(found, [], name);
        }
        assert.deepEqual(said, []);
        await context.close();
      });
});
