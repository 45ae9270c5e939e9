import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, textAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { look } from './look.ts';
import { type OpenPages, openPages } from './open-pages.ts';

describe('blocked deliveries and other callers', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let page: Page;

  before(async () => {
    pages = await openPages(async (client) => {
      await client.send('PATCH', '/api/v1/admin/settings', { body: { 'hooks.http.allow': '192.0.2.1' } });
    });
    ({ page } = pages);
    await page.emulateMedia({ reducedMotion: 'reduce' });
  });
  after(() => pages?.[Symbol.asyncDispose]());

  /** Makes a webhook, and opens its blocked test delivery. Returns the path. */
  async function openBlocked(url: string): Promise<string> {
    const body = { name: 'receiver', url, events: ['nothing.create'] };
    const webhook = textAt(await pages.admin.post('/api/v1/admin/webhooks', body), 'id');
    const path = `/api/v1/admin/webhooks/${webhook}`;
    await pages.admin.post(`${path}/test`, {}, 200);
    const id = await eventually('the delivery is blocked', async () => {
      const [delivery] = listAt((await pages.admin.get(`${path}/deliveries`)).json, 'data');
      return delivery?.status === 'dead' && String(delivery.id);
    });
    await pages.open(`webhooks/${webhook}/${id}`);
    return `/_/webhooks/${webhook}/${id}`;
  }

  test('a delivery to a metadata service names the setting, and offers nothing', async () => {
    await openBlocked('http://169.254.169.254/');
    await page.getByText('egress blocked: 169.254.169.254').first().waitFor();
    await page.getByText('makes an exception').waitFor();
    assert.equal(await page.getByRole('button', { name: /^Allow/ }).count(), 0);
  });

  test("a blocked receiver of one's own is allowed with a click, and gets the delivery", async () => {
    await using receiver = await startReceiver();
    const path = await openBlocked(receiver.url);
    const opens = async () => page.getByRole('button', { name: 'Allow 127.0.0.1' }).waitFor();
    await look(page, pages.stack.url, { name: 'blocked', path, shows: 'receiver', opens });
    await pages.button('Allow 127.0.0.1').click();
    await page.getByText('are now allowed').waitFor();
    const { json } = await pages.admin.get('/api/v1/admin/settings');
    assert.equal((json as { data: Record<string, unknown> }).data['hooks.http.allow'], '192.0.2.1,127.0.0.1');
    await pages.button('Resend').click();
    await page.getByRole('dialog').getByText('success').waitFor();
  });

  test('a pattern that no event matches is named when the webhook is made', async () => {
    await pages.open('webhooks?new=1');
    const sheet = page.getByRole('dialog');
    await sheet.getByLabel('Name').fill('lonely');
    await sheet.getByLabel('URL').fill('https://example.com/');
    await sheet.getByRole('textbox', { name: /^Events/ }).fill('nobody.create');
    await pages.button('Create webhook').click();
    await page.getByText('there is no collection nobody').waitFor();
  });

  test('a webhook whose events are read shows its key once', async () => {
    await pages.open('webhooks?new=1');
    const sheet = page.getByRole('dialog');
    await sheet.getByLabel('Type', { exact: true }).selectOption('Events are read');
    await sheet.getByLabel('URL').waitFor({ state: 'hidden' });
    await sheet.getByLabel('Name').fill('reader');
    await sheet.getByRole('textbox', { name: /^Events/ }).fill('orders.create');
    await pages.button('Create webhook').click();
    const shownKey = async () => {
      await page.getByText('Key for reading events').waitFor();
      const key = (await page.locator('code.key').textContent()) ?? '';
      await pages.button('Done').click();
      await page.getByRole('heading', { name: 'reader' }).waitFor();
      return key;
    };
    const key = await shownKey();
    const [reader] = listAt((await pages.admin.get('/api/v1/admin/webhooks')).json, 'data');
    const read = async (withKey: string) =>
      (
        await pages.stack.guest.send('GET', `/api/v1/webhooks/${reader?.id}/events`, {
          headers: { 'X-Webhook-Key': withKey },
        })
      ).status;
    assert.equal(await read(key), 200);
    await pages.button('Replace key').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace key' }).click();
    const next = await shownKey();
    assert.deepEqual([await read(key), await read(next)], [401, 200]);
  });

  test('requests of other callers are shown, without those of the pages', async () => {
    await fetch(`${pages.stack.url}/api/v1/health`);
    await pages.open('requests');
    const rows = page.locator('tbody tr a[data-row]');
    await eventually('the request is in the log', async () => {
      await pages.button('Reload').click();
      return (await rows.filter({ hasText: '/api/v1/health' }).count()) > 0;
    });
    assert.equal(await page.locator('tbody').getByText('admin', { exact: true }).count(), 0);
    await page.getByLabel('Caller').selectOption('All callers');
    await page.locator('tbody').getByText('admin', { exact: true }).first().waitFor();
    assert.match(String(await page.locator('tbody time').first().textContent()), /\d\d:\d\d:\d\d/);
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
