import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { skipWithoutBrowser } from '../harness/browser.ts';
import { textAt } from '../harness/json.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
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
    await dialog.getByText('must be at one of these hosts').waitFor();
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
