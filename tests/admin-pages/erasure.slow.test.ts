import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import type { Client } from '../harness/clients/client.ts';
import { at, numberAt, textAt } from '../harness/json.ts';
import { missedByTab } from './keyboard-walk.ts';
import { look } from './look.ts';
import { type OpenPages, openPages } from './open-pages.ts';

/** An erasure waits up to a minute for transactions that began before it, also for those of other tests. */
const erasedMs = 240_000;

const history = (records: string, id: string) => `/api/v1/records/${records}/${id}/history`;

describe('erasure on the admin pages', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let page: Page;
  let admin: Client;
  let dialog: Locator;

  before(async () => {
    pages = await openPages(async (client) => {
      const guest = (cascade: string) => ({
        name: 'guest',
        type: 'relation',
        collection: 'hotel_guests',
        options: { cascade },
      });
      const name = { name: 'name', type: 'text' };
      await client.post('/api/v1/collections', { name: 'hotel_guests', fields: [name], history_enabled: true });
      await client.post('/api/v1/collections', { name: 'hotel_stays', fields: [guest('cascade')] });
      await client.post('/api/v1/collections', { name: 'hotel_bills', fields: [guest('restrict')] });
      await client.post('/api/v1/collections', { name: 'hotel_clerks', type: 'auth', create_rule: null });
    });
    ({ page, admin } = pages);
    page.setDefaultTimeout(erasedMs);
    dialog = page.getByRole('dialog').last();
  });
  after(() => pages?.[Symbol.asyncDispose]());

  const newGuest = async (): Promise<string> => {
    const { id } = await admin.create('hotel_guests', { name: 'Ada' });
    await admin.patch(`/api/v1/hotel_guests/${id}`, { name: 'Ada Lovelace' });
    return id;
  };
  const statusOf = async (path: string): Promise<number> => (await admin.send('GET', path)).status;
  /** The count beside a place's name. */
  const count = (place: string) =>
    dialog.locator('dt', { hasText: place }).locator('xpath=following-sibling::dd[1]').textContent();
  const openErase = async (path: string): Promise<void> => {
    await pages.open(path);
    await page.getByRole('button', { name: /^Erase/ }).click();
    await dialog.getByText('Nobody can undo this').waitFor();
  };
  const eraseByKeyboard = async (word: string): Promise<void> => {
    await dialog.getByText('Versions in the history').waitFor();
    await dialog.getByLabel(`Type ${word} to confirm`).fill(word);
    await page.keyboard.press('Enter');
    await dialog.getByRole('heading', { name: 'Certificate' }).waitFor();
  };

  test('the dry run says what would go, and nothing goes before the word is typed', async () => {
    const id = await newGuest();
    const { id: stay } = await admin.create('hotel_stays', { guest: id });
    await openErase(`collections/hotel_guests/records/${id}`);
    await dialog.getByText('Versions in the history').waitFor();
    // The delete itself is a version.
    assert.deepEqual([await count('Records'), await count('Versions')], ['2', '3']);
    const erase = dialog.getByRole('button', { name: 'Erase', exact: true });
    assert.equal(await erase.isDisabled(), true);
    await dialog.getByLabel('Type erase to confirm').fill('eras');
    assert.equal(await erase.isDisabled(), true);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await dialog.getByText('Edit record in hotel_guests').waitFor();
    assert.deepEqual(
      [await statusOf(`/api/v1/hotel_guests/${id}`), await statusOf(`/api/v1/hotel_stays/${stay}`)],
      [200, 200],
    );
  });

  test('an erasure is followed to its certificate, which is saved', async () => {
    const id = await newGuest();
    const { id: stay } = await admin.create('hotel_stays', { guest: id });
    await openErase(`collections/hotel_guests/records/${id}`);
    await eraseByKeyboard('erase');
    assert.equal(await count('Records'), '2');
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download' }).click();
    const file = await download;
    assert.match(file.suggestedFilename(), /^erasure-[\w-]+\.json$/);
    const saved: unknown = JSON.parse(readFileSync(await file.path(), 'utf8'));
    assert.deepEqual([at(saved, 'record'), at(saved, 'collection')], [id, 'hotel_guests']);
    assert.deepEqual([numberAt(saved, 'certificate.records'), numberAt(saved, 'certificate.history')], [2, 3]);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('dialog').first().waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'hotel_guests' }).waitFor();
    assert.deepEqual(
      [await statusOf(`/api/v1/hotel_guests/${id}`), await statusOf(`/api/v1/hotel_stays/${stay}`)],
      [404, 404],
    );
    assert.equal(await statusOf(history('hotel_guests', id)), 404);
  });

  test('a deleted record is erased too, and its history may stay without values', async () => {
    const id = await newGuest();
    await admin.delete(`/api/v1/hotel_guests/${id}`);
    await openErase(`collections/hotel_guests/records/${id}`);
    await dialog.getByLabel('History').selectOption({ label: 'Keep who changed it and when, without values' });
    await eraseByKeyboard('erase');
    const { json } = await admin.get(history('hotel_guests', id));
    assert.ok(numberAt(json, 'data.totalItems') >= 2);
    assert.ok(!JSON.stringify(json).includes('Ada'));
  });

  test('what prevents an erasure is said before it', async () => {
    const id = await newGuest();
    await admin.create('hotel_bills', { guest: id });
    await openErase(`collections/hotel_guests/records/${id}`);
    await dialog.getByRole('alert').getByText('would fail: other records refer to this one').waitFor();
    await dialog.getByLabel('Type erase to confirm').fill('erase');
    assert.equal(await dialog.getByRole('button', { name: 'Erase', exact: true }).isDisabled(), true);
    await pages.open('collections/hotel_guests/records/nobody-knows-this-one');
    await page.getByRole('button', { name: /^Erase/ }).click();
    await dialog.getByRole('alert').getByText('not found').waitFor();
  });

  test('a user is erased by the address, and the list is next', async () => {
    const email = 'porter@example.com';
    const body = { email, password: 'a long enough password' };
    const id = textAt(await pages.stack.guest.post('/api/v1/auth/hotel_clerks/register', body), 'record.id');
    await openErase(`users/hotel_clerks/${id}`);
    await eraseByKeyboard(email);
    await page.keyboard.press('Escape');
    await page.waitForURL('**/_/users/hotel_clerks');
    assert.equal(await statusOf(`/api/v1/hotel_clerks/${id}`), 404);
  });

  test('the jobs name erasures, and keep their certificates', async () => {
    await pages.open('jobs');
    await page.getByRole('link', { name: 'Dry run of an erasure in hotel_guests' }).first().waitFor();
    await page.getByRole('link', { name: 'Erasure in hotel_clerks', exact: true }).click();
    await dialog.getByRole('heading', { name: 'Certificate' }).waitFor();
    await dialog.getByRole('button', { name: 'Download' }).waitFor();
    assert.equal(await count('Records'), '1');
    await dialog.getByText('1 record').waitFor();
    assert.equal(await dialog.getByText('refused').count(), 0, 'only imports have rows');
  });

  test('the dialog is readable, fits a phone, and is used by the keyboard', async () => {
    const body = { email: 'cook@example.com', password: 'a long enough password' };
    const id = textAt(await pages.stack.guest.post('/api/v1/auth/hotel_clerks/register', body), 'record.id');
    const opens = async () => {
      await page.getByRole('button', { name: /^Erase/ }).click();
      await dialog.getByText('Versions in the history').waitFor();
    };
    await look(page, pages.url, { name: 'erase', path: `/_/users/hotel_clerks/${id}`, shows: 'Providers', opens });
    assert.deepEqual(await missedByTab(page), []);
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
