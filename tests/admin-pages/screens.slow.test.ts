import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { builtPages } from '../harness/browser/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser/browser.ts';
import { textAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { type Stack, startStack } from '../harness/stacks/stack.ts';
import { hostile } from './hostile-text.ts';
import { missedByTab } from './keyboard-walk.ts';
import { look, openScreen, type Screen } from './look.ts';
import { fillOperations, operationsScreens } from './operations-ground.ts';
import { openPage, signIn } from './watched-page.ts';

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
    { name: 'collection-settings', path: '/_/collections/posts/settings', shows: 'Add field' },
    { name: 'collection-rules', path: '/_/collections/posts/settings?tab=rules', shows: 'Who can do what.' },
    { name: 'collection-indexes', path: '/_/collections/posts/settings?tab=indexes', shows: 'Add index' },
    { name: 'collection-options', path: '/_/collections/posts/settings?tab=options', shows: 'Drop collection' },
    { name: 'records', path: '/_/collections/posts/records', shows: 'again' },
    { name: 'records-by-words', path: '/_/collections/posts/records?filter=again', shows: 'Searches' },
    { name: 'api', path: '/_/collections/posts/records?api=1', shows: 'Changes only what it sends.' },
    { name: 'new-record', path: '/_/collections/posts/records?new=1', shows: 'New record in posts' },
    { name: 'record', path: `/_/collections/posts/records/${id}`, shows: 'Edit record in posts' },
    { name: 'history', path: `/_/collections/posts/records/${id}/history`, shows: 'Restore' },
    { name: 'webhooks', path: '/_/webhooks', shows: 'enabled' },
    { name: 'new-webhook', path: '/_/webhooks?new=1', shows: 'Delivery options' },
    { name: 'deliveries', path: `/_/webhooks/${webhook}`, shows: 'posts.create' },
    { name: 'nowhere', path: '/_/nowhere', shows: 'Page not found' },
  ];
}

describe('every screen in the admin pages', { skip: skipWithoutBrowser }, () => {
  let stack: Stack;
  let browser: Browser;
  let screens: readonly Screen[];
  const receiver = startReceiver();

  before(async () => {
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

  test('no serious finding, nothing forbidden, nothing beyond the window', async () => {
    const { page, said } = await openPage(browser);
    await signIn(page, stack.url);
    for (const screen of screens) await look(page, stack.url, screen);
    assert.deepEqual(said, []);
  });

  test('the keyboard reaches every control, the focus is visible, and Escape closes what is open', async () => {
    const { page } = await openPage(browser);
    await signIn(page, stack.url);
    for (const screen of screens) {
      await openScreen(page, stack.url, screen);
      assert.deepEqual(await missedByTab(page), [], screen.name);
      if ((await page.getByRole('dialog').count()) === 0) continue;
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });
});
