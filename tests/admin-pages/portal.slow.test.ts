import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { type Receiver, startReceiver } from '../harness/servers/receiver.ts';
import { look } from './look.ts';
import { type OpenPages, openPages } from './open-pages.ts';
import { openPage, type WatchedPage } from './watched-page.ts';

describe('the portal where owners manage their webhooks', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let receiver: Receiver;
  let firm: string;
  let portal: WatchedPage;

  before(async () => {
    receiver = await startReceiver();
    pages = await openPages(async (admin) => {
      await admin.post('/api/v1/collections', { name: 'firms', fields: [{ name: 'title', type: 'text' }] });
      await admin.post('/api/v1/collections', {
        name: 'orders',
        fields: [
          { name: 'firm', type: 'relation', collection: 'firms' },
          { name: 'margin', type: 'number', view_rule: '' },
        ],
        webhook_rule: 'firm = @owner.id',
      });
      firm = String((await admin.create('firms', { title: 'North' })).id);
      await admin.patch('/api/v1/admin/settings', {
        'hooks.http.allow': '127.0.0.0/8',
        'webhooks.owners.firms': JSON.stringify({
          events: ['orders.*'],
          hosts: [`http://${new URL(receiver.url).host}`],
        }),
      });
    });
    portal = await openPage(pages.browser);
  });
  after(async () => {
    await receiver?.[Symbol.asyncDispose]();
    await pages?.[Symbol.asyncDispose]();
  });

  const newLink = async (theme: object = {}): Promise<string> => {
    const owner = { collection: 'firms', id: firm };
    return textAt(await pages.admin.post('/api/v1/admin/webhooks/portal', { owner, theme }), 'path');
  };
  const button = (name: string) => portal.page.getByRole('button', { name, exact: true });

  test('a link opens it in the colours of its product, and leaves no token in the address', async () => {
    const { page } = portal;
    await page.goto(pages.stack.url + (await newLink({ title: 'North Shop', accent: '#aa3300' })));
    await page.getByRole('heading', { name: 'North Shop' }).waitFor();
    assert.equal(page.url(), `${pages.stack.url}/_/portal`);
    assert.equal(await page.evaluate("document.documentElement.style.getPropertyValue('--accent')"), '#aa3300');
    await page.getByText('orders.leave', { exact: true }).waitFor();
  });

  test('an endpoint is added, tested, and shows what was sent', async () => {
    const { page } = portal;
    await button('Add endpoint').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Stock');
    await dialog.getByLabel('URL').fill('https://elsewhere.example.com/');
    await dialog.getByLabel('orders.create').check();
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    await dialog.getByText('must have one of these hosts and ports').waitFor();
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByRole('heading', { name: 'Stock' }).waitFor();
    await button('Send test').click();
    await receiver.received(1);
    await pages.admin.create('orders', { firm, margin: 7 });
    await button('orders.create').click();
    await page.getByRole('dialog').getByText('200').waitFor();
    const body = (await page.getByRole('dialog').textContent()) ?? '';
    assert.ok(!body.includes('margin'), body);
    await button('Send again').click();
    await receiver.received(3);
  });

  test('the secret is shown and replaced', async () => {
    const { page } = portal;
    await page.getByText('Secret and verification').click();
    await button('Show').click();
    const before = (await page.locator('code.secret').textContent()) ?? '';
    assert.match(before, /^whsec_/);
    await button('Replace').click();
    await page.getByText('Secret replaced').waitFor();
    await page.waitForFunction(`document.querySelector('code.secret').textContent !== ${JSON.stringify(before)}`);
  });

  /** Opens the form of the endpoint that is shown, changes it, and saves it. */
  async function edit(change: (dialog: Locator) => Promise<unknown>): Promise<void> {
    await button('Edit').click();
    const dialog = portal.page.getByRole('dialog');
    await dialog.getByText('Order and batches').click();
    await change(dialog);
    await button('Save').click();
    await dialog.waitFor({ state: 'hidden' });
  }

  test('its events come in batches if it says so', async () => {
    await edit(async (dialog) => {
      await dialog.getByLabel('Most events in a request').fill('101');
      await button('Save').click();
      await dialog.getByText('must be a whole number from 1 to 100').waitFor();
      await dialog.getByLabel('Most events in a request').fill('2');
      await dialog.getByLabel('Wait for more events').fill('0');
    });
    const from = receiver.deliveries.length;
    await pages.admin.create('orders', { firm });
    const [request] = (await receiver.received(from + 1)).slice(from);
    assert.ok(Array.isArray(request?.json), request?.text);
    await edit((dialog) => dialog.getByLabel('Most events in a request').fill(''));
    await pages.admin.create('orders', { firm });
    await receiver.received(from + 2);
    assert.equal(receiver.deliveries[from + 1]?.json.event, 'orders.create');
  });

  test('on a phone, what blocks a record is shown, sent again and skipped', async () => {
    const { page } = portal;
    const [webhook] = listAt((await pages.admin.get('/api/v1/admin/webhooks')).json, 'data');
    await pages.admin.patch(`/api/v1/admin/webhooks/${webhook?.id}`, { retry_max: 0 });
    await edit((dialog) => dialog.getByLabel('Order', { exact: true }).selectOption("Each record's"));
    receiver.behave({ status: 500 });
    await pages.admin.create('orders', { firm });
    const blocked = page.getByText('A dead delivery blocks its record');
    const opens = async () => {
      await button('Open Stock').click();
      await blocked.waitFor();
    };
    await blocked.waitFor();
    await look(page, pages.stack.url, { name: 'portal-blocked', path: '/_/portal', shows: 'Stock', opens });
    await page.setViewportSize({ width: 380, height: 800 });
    await button('View it').click();
    await page.getByRole('dialog').getByText('500', { exact: true }).first().waitFor();
    await button('Close').last().click();
    receiver.behave({ status: 200 });
    const from = receiver.deliveries.length;
    await button('Retry it').click();
    await receiver.received(from + 1);
    await blocked.waitFor({ state: 'hidden' });
    receiver.behave({ status: 500 });
    await pages.admin.create('orders', { firm });
    await blocked.waitFor();
    await button('Skip it').click();
    await blocked.waitFor({ state: 'hidden' });
    receiver.behave({ status: 200 });
    const { json } = await pages.admin.get(`/api/v1/admin/webhooks/${webhook?.id}/status`);
    assert.equal(at(json, 'data.blocked'), 0);
  });

  test('an endpoint whose events are read shows its key once', async () => {
    const { page } = portal;
    await button('All endpoints').click();
    await button('Add endpoint').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type', { exact: true }).selectOption('Events are read');
    await dialog.getByLabel('URL').waitFor({ state: 'hidden' });
    await dialog.getByLabel('Name').fill('Reader');
    await dialog.getByLabel('orders.create').check();
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    const shownKey = async () => {
      await page.getByText('Key for reading events').waitFor();
      const key = (await page.locator('code.key').textContent()) ?? '';
      await button('Done').click();
      await page.getByText('Key for reading events').waitFor({ state: 'hidden' });
      return key;
    };
    const key = await shownKey();
    await page.getByRole('heading', { name: 'Reader' }).waitFor();
    const { id } = await pages.admin.create('orders', { firm, margin: 7 });
    const owned = listAt((await pages.admin.get('/api/v1/admin/webhooks')).json, 'data');
    const reader = owned.find(({ name }) => name === 'Reader');
    const read = (withKey: string) =>
      pages.stack.guest.send('GET', `/api/v1/webhooks/${reader?.id}/events`, { headers: { 'X-Webhook-Key': withKey } });
    await eventually('the event is read', async () => {
      const [body] = listAt((await read(key)).json, 'data');
      return at(body ?? {}, 'data.record.id') === id;
    });
    await page.getByRole('row', { name: /success orders\.create/ }).waitFor();
    await button('Replace key').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace key' }).click();
    const next = await shownKey();
    assert.notEqual(next, key);
    assert.deepEqual([(await read(key)).status, (await read(next)).status], [401, 200]);
  });

  test('it fits a phone, and axe finds nothing serious', async () => {
    const opens = async () => button('Open Stock').waitFor();
    await look(portal.page, pages.stack.url, { name: 'portal', path: '/_/portal', shows: 'Stock', opens });
    const details = async () => {
      await button('Open Stock').click();
      await button('Send test').waitFor();
    };
    await look(portal.page, pages.stack.url, {
      name: 'portal-endpoint',
      path: '/_/portal',
      shows: 'Stock',
      opens: details,
    });
    assert.deepEqual(portal.said, []);
  });

  test('a link that was used says so', async () => {
    const link = await newLink();
    const first = await openPage(pages.browser);
    await first.page.goto(pages.stack.url + link);
    await first.page.getByText('Stock').waitFor();
    const second = await openPage(pages.browser);
    await second.page.goto(pages.stack.url + link);
    await second.page.getByText('The link was used or has expired').waitFor();
    await second.page.goto(`${pages.stack.url}/_/portal`);
    await second.page.getByText('This page opens by a link').waitFor();
    await first.page.context().close();
    await second.page.context().close();
  });

  test('the pages that the setting names may frame it, and never the admin pages', async () => {
    let path = '';
    const shop = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(
        `<!doctype html><title>Shop</title><iframe width="800" height="600" src="${pages.stack.url}${path}"></iframe>`,
      );
    }).listen(0, '127.0.0.1');
    await once(shop, 'listening');
    const origin = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
    await pages.admin.patch('/api/v1/admin/settings', { 'webhooks.portal_frames': origin });
    const { page } = await openPage(pages.browser);
    path = await newLink();
    await page.goto(origin);
    await page.frameLocator('iframe').getByText('Stock').waitFor();
    for (const refused of ['/_/', '/_/webhooks']) {
      path = refused;
      const violation = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
      await page.goto(origin);
      await violation;
    }
    await page.context().close();
    shop.close();
  });
});
