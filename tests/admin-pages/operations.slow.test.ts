import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { builtPages } from '../harness/browser/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser/browser.ts';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, numberAt, textAt } from '../harness/json.ts';
import { type Receiver, startReceiver } from '../harness/servers/receiver.ts';
import { type Stack, startStack } from '../harness/stacks/stack.ts';
import { hostile } from './hostile-text.ts';
import { fillOperations, type OperationsGround, startLongImport } from './operations-ground.ts';
import { openSignedIn } from './watched-page.ts';

describe('operations on the admin pages', { skip: skipWithoutBrowser }, () => {
  let stack: Stack;
  let receiver: Receiver;
  let browser: Browser;
  let page: Page;
  let said: readonly string[];
  let admin: Client;
  let ground: OperationsGround;

  before(async () => {
    const environment = {
      SERVICE_PAGES_DIR: await builtPages(),
      SERVICE_EXTENSIONS_DIR: fileURLToPath(new URL('../fuzz/extension', import.meta.url)),
    };
    stack = await startStack({ topology: 'one', environment });
    receiver = await startReceiver();
    admin = await stack.admin();
    ground = await fillOperations(admin, receiver);
    browser = await startBrowser();
    ({ page, said } = await openSignedIn(browser, stack.url, {
      viewport: { width: 1280, height: 900 },
      acceptDownloads: true,
    }));
  });
  after(async () => {
    await browser?.close();
    await receiver?.[Symbol.asyncDispose]();
    await stack?.stop();
  });
  const open = (path: string) => page.goto(stack.url + path);
  const total = async () => numberAt((await admin.get('/api/v1/wares?perPage=1')).json, 'totalItems');

  test('an event shows each delivery with its attempts, and is sent again to all', async () => {
    await open(`/_/events/${ground.event}`);
    const sheet = page.getByRole('dialog');
    await sheet.getByText('Changes', { exact: true }).waitFor();
    assert.equal((await sheet.locator('figure rect').count()) >= 4, true, 'a bar for each attempt');
    await sheet.getByText('Next attempt').first().waitFor({ state: 'attached' });
    const before = receiver.deliveries.length;
    await sheet.getByRole('button', { name: 'Resend to all' }).click();
    await page.getByText('Resending the event to 3 webhooks.').waitFor();
    await receiver.received(before + 3);
    await sheet.getByRole('link', { name: ground.request }).click();
    await page.getByRole('dialog').getByText('Answered').waitFor();
    await page.getByRole('dialog').locator('.feed a').first().waitFor();
  });

  test('a new event appears without a reload, and filters find it', async () => {
    await open('/_/events');
    await page.locator('.feed li').first().waitFor();
    await admin.create('wares', { title: 'seen at once' });
    await page.locator('.feed li.fresh').first().waitFor();
    await page.getByLabel('Event').fill('wares.delete');
    await page.keyboard.press('Enter');
    await page.getByText('No matching events').waitFor();
  });

  test('a replay shows how many events it will send, and sends them', async () => {
    await open('/_/webhooks');
    await page.getByRole('link', { name: 'search' }).click();
    await page.getByRole('button', { name: 'Replay' }).click();
    const send = page.getByRole('button', { name: /^Replay \d+ events?$/ });
    await send.waitFor();
    await send.click();
    await page.getByText(/^Replaying \d+ events?\.$/).waitFor();
  });

  test("a grid's rows follow others' writes", async () => {
    const { id } = await admin.create('wares', { title: 'before' });
    await open('/_/collections/wares/records');
    await page.getByRole('cell', { name: 'before' }).waitFor();
    await page.getByTitle('Changes appear here immediately').waitFor();
    await admin.patch(`/api/v1/wares/${id}`, { title: 'after' });
    await page.locator('tr.changed').getByRole('cell', { name: 'after' }).waitFor();
    await admin.create('wares', { title: 'another' });
    await page.getByRole('button', { name: '1 new' }).waitFor();
    await admin.delete(`/api/v1/wares/${id}`);
    await page.locator('tr.gone').waitFor();
    await page.getByRole('button', { name: '1 new' }).click();
    await page.getByRole('cell', { name: 'another' }).waitFor();
    assert.equal(await page.locator('tr.gone').count(), 0);
  });

  test('selected records are deleted, and restored', async () => {
    const before = await total();
    await open('/_/collections/wares/records');
    await page.locator('tbody a[data-row]').first().focus();
    await page.keyboard.press(' ');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press(' ');
    await page.getByText('2 selected').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('2 records deleted.').waitFor();
    assert.equal(await total(), before - 2);
    await page.getByRole('button', { name: 'Undo' }).click();
    await eventually('both are back', async () => (await total()) === before);
  });

  test('a file is checked and imported once, and its refused rows are shown', async () => {
    const before = await total();
    await open('/_/collections/wares/records?import=1');
    const text = `Title;pieces;note\n${hostile.replaceAll(';', '')};5;x\n"two; parts";none;y\n`;
    const buffer = Buffer.from(text.replace('"><', '><'));
    await page.getByLabel('File').setInputFiles({ name: 'wares.csv', mimeType: 'text/csv', buffer });
    assert.equal(await page.getByLabel('Field for Title').inputValue(), 'title');
    await page.getByLabel('Field for pieces').selectOption('stock');
    assert.equal(await page.getByLabel('Field for note').inputValue(), '');
    await page.getByRole('button', { name: 'Check file' }).click();
    await page.getByText('Nothing is imported yet').waitFor();
    assert.equal(await total(), before);
    await page.getByText('1 refused row').waitFor();
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByText('Import finished').waitFor();
    assert.equal(await total(), before + 1);
  });

  test('a complete export is saved', async () => {
    await open('/_/collections/wares/records?export=1');
    await page.getByRole('dialog').getByLabel('Format').selectOption('ndjson');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export', exact: true }).last().click();
    const saved = await (await download).path();
    const lines = readFileSync(saved, 'utf8').trim().split('\n');
    assert.equal(lines.length, await total());
    assert.ok(lines.every((line) => textAt(JSON.parse(line), 'id') !== ''));
  });

  test('the palette finds screens, collections and actions by the keyboard', async () => {
    await open('/_/');
    await page.getByRole('heading', { name: 'Collections' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('wares: new');
    await page.keyboard.press('Enter');
    await page.getByText('New record in wares').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('audit');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    await page.keyboard.press('/');
    assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Area');
  });

  test('every key that follows Ctrl-K is typed into the palette, however slow the network is', async () => {
    await open('/_/collections');
    await page.getByRole('heading', { name: 'Collections' }).waitFor();
    const network = Promise.withResolvers<void>();
    let isRequested = false;
    await page.route('**/_/assets/**', async (route) => {
      isRequested = true;
      await network.promise;
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('audit');
    assert.equal(await page.getByRole('combobox', { name: 'Search' }).inputValue(), 'audit');
    await page.keyboard.press('Enter');
    await eventually("the screen's own file is requested", () => isRequested);
    network.resolve();
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    await page.unroute('**/_/assets/**');
  });

  test('a backup is created, saved and deleted', async () => {
    await open('/_/backups');
    await page.getByText('No backups yet').waitFor();
    await page.getByRole('button', { name: 'New backup' }).click();
    await page.getByRole('button', { name: 'Start backup' }).click();
    const isDone = async () => {
      const [backup] = listAt((await admin.get('/api/v1/admin/backups')).json, 'data');
      return backup?.state === 'done';
    };
    await eventually('the backup is done', isDone, { timeoutMs: 120_000 });
    const download = page.waitForEvent('download', { timeout: 0 });
    await page.getByRole('button', { name: /^Download recordbus-/ }).click();
    await page
      .getByRole('dialog')
      .getByText(/^Saved /)
      .waitFor();
    const saved = await (await download).path();
    const [shown] = listAt((await admin.get('/api/v1/admin/backups')).json, 'data');
    assert.equal(readFileSync(saved).length, numberAt(shown, 'bytes'));
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: /^Delete recordbus-/ }).click();
    await page.getByRole('button', { name: 'Delete backup' }).click();
    await page.getByText('No backups yet').waitFor();
    await page.getByText('downloaded', { exact: true }).waitFor();
  });

  test('a job is paused, resumed and cancelled', async () => {
    const id = await startLongImport(admin);
    await open(`/_/jobs/${id}`);
    const sheet = page.getByRole('dialog');
    const stateOf = async () => textAt((await admin.get(`/api/v1/jobs/${id}`)).json, 'data.state');
    await sheet.getByRole('button', { name: 'Pause' }).click();
    await sheet.getByRole('button', { name: 'Resume' }).waitFor();
    assert.equal(await stateOf(), 'paused');
    await sheet.getByRole('button', { name: 'Resume' }).click();
    await sheet.getByRole('button', { name: 'Pause' }).waitFor();
    assert.match(await stateOf(), /queued|running/);
    await sheet.getByRole('button', { name: 'Cancel' }).click();
    await sheet.getByText('cancelled').first().waitFor();
    assert.equal(await stateOf(), 'cancelled');
    assert.equal(await sheet.getByRole('button', { name: 'Resume' }).count(), 0);
  });

  test('records that cannot be restored are deleted only after their number is typed', async () => {
    const rows = async () => numberAt((await admin.get('/api/v1/drafts?perPage=1')).json, 'totalItems');
    await admin.post('/api/v1/collections', { name: 'drafts', fields: [{ name: 'title', type: 'text' }] });
    for (const title of ['a', 'b', 'c']) await admin.create('drafts', { title });
    await open('/_/collections/drafts/records');
    await page.locator('tbody a[data-row]').first().focus();
    await page.keyboard.press(' ');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog');
    const remove = dialog.locator('button.danger');
    for (const wrong of ['', '3', '22', ' 2']) {
      await dialog.getByLabel('Type 2 to confirm').fill(wrong);
      assert.equal(await remove.isDisabled(), true, wrong);
    }
    await dialog.getByLabel('Type 2 to confirm').fill('2');
    await remove.click();
    await page.getByText('2 records deleted.').waitFor();
    assert.equal(await rows(), 1);
  });

  test('a cron job runs on request', async () => {
    await open('/_/crons');
    await page
      .getByRole('row', { name: /clock\.tick/ })
      .getByRole('button', { name: 'Run now' })
      .click();
    await page.getByText(/^Started /).waitFor();
    await page.getByRole('link', { name: /tick/ }).click();
    await page.getByRole('dialog').getByText('manual').waitFor();
  });

  test('the charts draw what the request log has', async () => {
    await open('/_/health');
    await page
      .getByRole('img', { name: /^Requests: ok/ })
      .locator('rect')
      .first()
      .waitFor();
    await page
      .getByRole('img', { name: /^Deliveries: success/ })
      .locator('rect')
      .first()
      .waitFor();
    await page.getByRole('cell', { name: 'all in one' }).waitFor();
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(said, []));
});
