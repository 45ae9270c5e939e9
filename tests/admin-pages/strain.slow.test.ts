import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Locator, Page } from 'playwright-core';
import { builtPages } from '../harness/browser/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser/browser.ts';
import { type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, textAt } from '../harness/json.ts';
import { type Receiver, startReceiver } from '../harness/servers/receiver.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { createGround, type Ground, type Stack, startStack } from '../harness/stacks/stack.ts';
import { hostile } from './hostile-text.ts';
import { fillOperations } from './operations-ground.ts';
import { enter, openSignedIn } from './watched-page.ts';

const wide = { width: 1280, height: 900 };
const narrow = { width: 380, height: 800 };

describe('the admin pages under strain', { skip: skipWithoutBrowser }, () => {
  let ground: Ground;
  let stack: Stack;
  let receiver: Receiver;
  let browser: Browser;
  let page: Page;
  let said: readonly string[];
  let admin: Client;
  let environment: Record<string, string>;

  before(async () => {
    environment = { SERVICE_PAGES_DIR: await builtPages() };
    ground = await createGround();
    stack = await startStack({ topology: 'one', ground, environment });
    // The stack starts again at the same address.
    environment.SERVICE_PORT = new URL(stack.url).port;
    receiver = await startReceiver();
    admin = await stack.admin();
    await fillOperations(admin, receiver);
    browser = await startBrowser();
    ({ page, said } = await openSignedIn(browser, stack.url, { viewport: wide }));
  });
  after(async () => {
    await browser?.close();
    await receiver?.[Symbol.asyncDispose]();
    await stack?.stop();
    await ground?.remove();
  });
  const open = (path: string) => page.goto(stack.url + path);
  /** Stops the stack, runs the work, and starts the stack again at the same address. */
  const whileAway = async (work: () => Promise<void>, more: Record<string, string> = {}) => {
    await stack.stop();
    await work();
    Object.assign(environment, more);
    stack = await startStack({ topology: 'one', ground, environment });
    admin = await stack.admin();
  };
  /** Whether an element is visible: nothing covers it, so its position looks different without it. */
  const isSeen = async (what: Locator) => {
    const clip = (await what.boundingBox()) ?? assert.fail('it has no place');
    const before = await page.screenshot({ clip });
    await what.evaluate((element) => element.setAttribute('hidden', ''));
    const after = await page.screenshot({ clip });
    await what.evaluate((element) => element.removeAttribute('hidden'));
    return !before.equals(after);
  };
  const isAway = () => page.getByText('The stack does not answer.');

  test('restarting the stack loses neither input nor changes', async () => {
    await open('/_/collections/wares/records?new=1');
    await page.getByRole('dialog').getByLabel('title').fill('typed before the stop');
    await page.getByTitle('Changes appear here immediately').waitFor({ state: 'attached' });
    const restored = page.getByText('Connection restored.').waitFor(); // It shows for seconds only.
    await whileAway(async () => {
      await isAway().waitFor();
      await page.getByTitle('Changes appear once the connection is back').waitFor({ state: 'attached' });
      assert.ok(await isSeen(isAway()), 'the dialog covers what it says');
      await page.getByRole('dialog').getByLabel('stock').fill('7');
    });
    await restored;
    await isAway().waitFor({ state: 'detached' });
    await admin.create('wares', { title: 'by another' });
    await page.getByRole('button', { name: '1 new', includeHidden: true }).waitFor();
    assert.equal(await page.getByRole('dialog').getByLabel('title').inputValue(), 'typed before the stop');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Record created.').waitFor();
    const row = page.getByRole('row').filter({ hasText: 'typed before the stop' });
    await row.getByRole('cell', { name: '7', exact: true }).waitFor();
    await page.getByTitle('Changes appear here immediately').waitFor();
  });

  test('a token that expires while the stack is down leads to a sign-in, and the form stays', async () => {
    await page.getByRole('cell', { name: 'typed before the stop' }).click();
    const title = page.getByRole('dialog').getByLabel('title');
    await title.fill('typed with the old token');
    // Tokens signed with another secret are as invalid as expired ones.
    await whileAway(() => isAway().waitFor(), { SERVICE_JWT_SECRET: 'another secret of more than 32 characters' });
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await enter(page);
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor({ state: 'detached' });
    assert.equal(await title.inputValue(), 'typed with the old token');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Record saved.').waitFor();
    await page.getByRole('cell', { name: 'typed with the old token' }).waitFor();
    await page.getByTitle('Changes appear here immediately').waitFor();
  });

  test('a revoked session leads to a sign-in, even if guests may do the same', async () => {
    await open('/_/collections/wares/records?new=1');
    await page.getByRole('dialog').getByLabel('title').fill('typed as an admin');
    await page.getByTitle('Changes appear here immediately').waitFor({ state: 'attached' });
    const { token } = JSON.parse(String(await page.evaluate("sessionStorage.getItem('recordbus-admin')")));
    await createClient(stack.url, token).send('POST', '/api/v1/admin/logout');
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await enter(page);
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Record created.').waitFor();
    const [made] = listAt(
      (await admin.get('/api/v1/wares?sort=-created&filter=title="typed as an admin"')).json,
      'data',
    );
    const [version] = listAt((await admin.get(`/api/v1/wares/${textAt(made, 'id')}/history`)).json, 'data.data');
    assert.equal(textAt(version, 'actor_type'), 'admin');
  });

  test('a failed load succeeds once the stack is back', async () => {
    await open('/_/webhooks');
    await page.getByRole('link', { name: 'search' }).waitFor();
    await whileAway(async () => {
      await page.getByRole('link', { name: 'search' }).click();
      await page.getByText('The server does not answer.').first().waitFor();
    });
    await page.getByRole('heading', { name: 'search' }).waitFor();
    await whileAway(async () => {
      await page.getByRole('link', { name: 'Audit log' }).click();
      await page.getByText('This page could not be loaded.').waitFor();
    });
    await page.getByRole('cell', { name: 'webhooks.create' }).first().waitFor();
  });

  test('a 1 MB text stays within its cell', async () => {
    const title = `${hostile}${'m'.repeat(1_000_000)}`;
    receiver.behave({ status: 200, body: title });
    const { id } = await admin.create('wares', { title });
    const agent = hostile.replaceAll(/[^\x20-\x7e]/g, '').repeat(40);
    const far = { headers: { 'X-Request-Id': 'request-from-far', 'User-Agent': agent } };
    await admin.send('GET', `/api/v1/wares/${'p'.repeat(4000)}`, far);
    const events = `/api/v1/admin/events?record=${id}`;
    const event = await eventually('its event is there', async () => {
      const [found] = listAt((await admin.get(events)).json, 'data');
      if (!found) throw new Error('no event yet');
      return textAt(found, 'id');
    });
    const ofEvent = await eventually('it has its deliveries', async () => {
      const [found] = listAt((await admin.get(`/api/v1/admin/events/${event}`)).json, 'data.deliveries');
      if (!found?.response_body) throw new Error('no answer yet');
      return `webhooks/${textAt(found, 'webhook_id')}/${textAt(found, 'id')}`;
    });
    // The product keeps 2 kB of an answer and of a path. The pages' layout holds even with more.
    const delivery = ofEvent.split('/').at(-1);
    const inStack = (text: string, values: readonly unknown[]) => inDatabase(ground, text, values);
    await inStack('update system.deliveries set response_body = $1, error = $1 where id = $2', [title, delivery]);
    await inStack('update system.delivery_attempts set error = $1 where delivery_id = $2', [title, delivery]);
    const longer = { path: `/far/${title}`, user_agent: title, request_id: 'request-of-a-megabyte' };
    const row = 'jsonb_populate_record(one, $1 || jsonb_build_object($2::text, gen_random_uuid()))';
    await eventually('a request is logged', async () => {
      const text = `insert into system.requests select (${row}).* from system.requests one where request_id = $3 returning 1`;
      return (await inStack(text, [longer, 'id', 'request-from-far'])).length > 0;
    });
    const width = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    const characters = () => page.evaluate<number>('document.body.textContent.length');
    const screens = [
      ['collections/wares/records', `a[data-row][href*="${id}"]`],
      [`collections/wares/records/${id}/events`, '.feed li'],
      [`collections/wares/records/${id}`, 'dialog pre'],
      [`collections/wares/records/${id}/history`, 'ins'],
      [`events/${event}`, 'dialog dl'],
      [ofEvent, 'dialog pre'],
      [ofEvent.split('/', 2).join('/'), `a[href$="${delivery}"]`],
      ['events', '.feed li'],
      ['requests/request-from-far', 'dialog dl'],
      ['requests?path=/far/&principal_type=guest,user,admin,service', 'a[href*="request-of-a-megabyte"]'],
      ['requests/request-of-a-megabyte', 'dialog dl'],
    ] as const;
    for (const [path, shown] of screens) {
      await open(`/_/${path}`);
      await page.locator(shown).first().waitFor();
      assert.ok((await characters()) < 100_000, `${path} shows ${await characters()} characters`);
      for (const viewport of [narrow, wide]) {
        await page.setViewportSize(viewport);
        assert.ok((await width()) <= 0, `${path} is wider than ${viewport.width} px`);
      }
    }
  });

  test('1 MB values stay closed until they are edited, and a save keeps them', async () => {
    const long = `${hostile}${'w'.repeat(900_000)}`;
    const fields = [
      { name: 'notes', type: 'text', options: { default: long } },
      { name: 'page', type: 'editor' },
      { name: 'data', type: 'json' },
    ];
    await admin.post('/api/v1/collections', { name: 'volumes', fields, history_enabled: true });
    const ids: string[] = [];
    for (const values of [{ notes: long }, { page: long, notes: '' }, { data: { long }, notes: '' }])
      ids.push((await admin.create('volumes', values)).id);
    const value = long.replaceAll(/[^\x20-\x7e]/g, '');
    const hook = await admin.post('/api/v1/admin/webhooks', {
      name: hostile.repeat(3).slice(0, 255),
      url: receiver.url,
      events: ['none.*'],
      headers: { 'X-Long': value },
    });
    const webhook = textAt(hook, 'id');
    const settle = async (path: string) => {
      for (const viewport of [narrow, wide]) {
        await page.setViewportSize(viewport);
        assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')) <= 0, path);
      }
      assert.ok((await page.evaluate<number>('document.body.textContent.length')) < 100_000, path);
    };
    for (const id of ids) {
      await open(`/_/collections/volumes/records/${id}`);
      await page.getByRole('dialog').getByRole('button', { name: 'Edit full text' }).waitFor();
      await settle(id);
    }
    for (const path of ['collections/volumes/records', 'collections/volumes/settings', `webhooks/${webhook}`]) {
      await open(`/_/${path}`);
      await page.locator('main h1').waitFor();
      await settle(path);
    }
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Edit full text' }).waitFor();
    await settle('the form of the webhook');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^Saved /).waitFor();
    const stored = (await admin.get(`/api/v1/admin/webhooks/${webhook}`)).json as {
      data: { headers: Record<string, string> };
    };
    assert.equal(stored.data.headers['X-Long'], value.trim());
  });

  test('records that are too large for a page with 50 are loaded in smaller pages', async () => {
    await admin.post('/api/v1/collections', { name: 'tomes', fields: [{ name: 'title', type: 'text' }] });
    const title = 'm'.repeat(50_000);
    for (let index = 0; index < 12; index += 1) await admin.create('tomes', { title });
    await admin.patch('/api/v1/admin/settings', { 'records.max_answer_bytes': '550000' });
    await open('/_/collections/tomes/records');
    await eventually('ten are shown', async () => (await page.locator('tbody a[data-row]').count()) === 10);
    await page.getByRole('button', { name: 'Next' }).click();
    await eventually('two are left', async () => (await page.locator('tbody a[data-row]').count()) === 2);
    await admin.patch('/api/v1/admin/settings', { 'records.max_answer_bytes': '33554432' });
  });

  test('a grid with 200 columns draws only the visible ones', async () => {
    const fields = Array.from({ length: 200 }, (_, index) => ({ name: `field_${index}`, type: 'text' }));
    await admin.post('/api/v1/collections', { name: 'broad', fields });
    for (const row of ['first', 'second'])
      await admin.create('broad', Object.fromEntries(fields.map(({ name }) => [name, `${row} ${name}`])));
    await open('/_/collections/broad/records');
    await page.getByRole('cell', { name: 'second field_0' }).waitFor();
    await page.locator('summary', { hasText: 'Columns' }).click();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('cell', { name: 'second field_6' }).waitFor();
    assert.ok((await page.locator('tbody td').count()) < 80);
    await page.evaluate("document.querySelector('[data-grid]').scrollLeft = 1e6");
    const last = page.getByRole('cell', { name: 'second field_199' });
    assert.equal(await last.getAttribute('aria-colindex'), '202');
    await page.locator('tbody a[data-row]').first().focus();
    await page.keyboard.press('ArrowDown');
    assert.ok(await last.isVisible(), 'the focus is in a column that stays');
    const { violations } = await new AxeBuilder({ page }).include('[data-grid]').analyze();
    assert.equal(violations.length, 0, JSON.stringify(violations.map(({ id }) => id)));
  });

  test('only the visible collections are counted', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `many_${String(index).padStart(2, '0')}`);
    for (const name of names)
      await admin.post('/api/v1/collections', { name, fields: [{ name: 'title', type: 'text' }] });
    await admin.create('many_59', { title: 'one' });
    const counted: string[] = [];
    page.on('request', (request) => {
      const name = /records\/(many_\d+)\?/.exec(request.url())?.[1];
      if (name) counted.push(name);
    });
    await open('/_/');
    const countOf = (name: string) => page.getByRole('row').filter({ hasText: name }).getByRole('cell').nth(3);
    await countOf('many_00').getByText('0').waitFor();
    await page.getByLabel('Search collections').fill('many_0');
    await eventually('those found are counted', async () => new Set(counted).size >= 10);
    await page.getByLabel('Search collections').fill('');
    await countOf('many_59').scrollIntoViewIfNeeded();
    await countOf('many_59').getByText('1').waitFor();
    assert.equal(new Set(counted).size, counted.length, 'one is counted twice');
    assert.ok(counted.length < names.length, 'all are counted');
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(said, []));
});
