import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import { look } from './look.ts';
import { type OpenPages, openPages } from './open-pages.ts';

describe('a cell of the records that is edited in place', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let page: Page;
  let first: string;
  let second: string;
  let grace: string;

  before(async () => {
    pages = await openPages(async (client) => {
      const fields = [
        { name: 'title', type: 'text', required: true, options: { max: 20 } },
        { name: 'stars', type: 'number' },
        { name: 'kind', type: 'select', options: { values: ['port', 'city'] } },
        { name: 'meta', type: 'json' },
        { name: 'place', type: 'geoPoint' },
        { name: 'owner', type: 'relation', collection: 'keepers' },
        { name: 'story', type: 'editor' },
      ];
      await client.post('/api/v1/collections', { name: 'keepers', fields: [{ name: 'name', type: 'text' }] });
      await client.create('keepers', { name: 'Ada' });
      ({ id: grace } = await client.create('keepers', { name: 'Grace' }));
      await client.post('/api/v1/collections', { name: 'spots', fields });
      ({ id: first } = await client.create('spots', { title: 'Harbour', stars: 1, kind: 'port', meta: { a: 1 } }));
      ({ id: second } = await client.create('spots', { title: 'Market', stars: 2 }));
    });
    ({ page } = pages);
    await page.emulateMedia({ reducedMotion: 'reduce' });
  });
  after(() => pages?.[Symbol.asyncDispose]());

  const editor = () => page.getByRole('dialog', { name: /^Edit / });
  const row = (id: string) => page.locator(`tr[data-id="${id}"]`);
  const cell = (id: string, name: string) => row(id).locator(`[data-cell="${name}"]`);
  const stored = async (id: string) =>
    ((await pages.admin.get(`/api/v1/spots/${id}`)).json as { data: Record<string, unknown> }).data;
  const focused = () => page.evaluate('document.activeElement?.dataset.cell ?? document.activeElement?.tagName');
  async function open(): Promise<void> {
    await pages.open('collections/spots/records?sort=title');
    await cell(second, 'title').waitFor();
    await row(first).locator('[data-row]').focus();
  }

  test('arrows move between cells, Enter edits and saves, and the cell keeps the focus', async () => {
    await open();
    await page.keyboard.press('ArrowRight');
    assert.equal(await focused(), 'title');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await editor().getByLabel('stars').waitFor();
    await page.keyboard.type('42');
    await page.keyboard.press('Enter');
    await editor().waitFor({ state: 'detached' });
    assert.deepEqual([await focused(), (await stored(second)).stars], ['stars', 42]);
    await cell(second, 'stars').getByText('42').waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await focused(), 'A');
  });

  test('Escape gives the value back as it was', async () => {
    await open();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('F2');
    await editor().getByLabel('title').fill('Other');
    await page.keyboard.press('Escape');
    await editor().waitFor({ state: 'detached' });
    assert.equal((await stored(first)).title, 'Harbour');
    await cell(first, 'title').getByText('Harbour').waitFor();
    assert.equal(await focused(), 'title');
  });

  test('a refusal is shown at the cell, whose text stays', async () => {
    await open();
    await cell(first, 'title').hover();
    await page.getByRole('button', { name: 'Edit title' }).click();
    const input = editor().getByLabel('title');
    for (const wrong of ['', 'x'.repeat(21)]) {
      await input.fill(wrong);
      await page.keyboard.press('Enter');
      await editor().getByRole('alert').waitFor();
      assert.equal(await input.getAttribute('aria-invalid'), 'true');
      assert.equal(await input.inputValue(), wrong);
    }
    await page.keyboard.press('Escape');
    assert.equal((await stored(first)).title, 'Harbour');
    await cell(first, 'stars').hover();
    await page.getByRole('button', { name: 'Edit stars' }).click();
    await editor().getByLabel('stars').fill('1,5');
    await page.keyboard.press('Enter');
    await editor().getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    assert.equal((await stored(first)).stars, 1);
  });

  test("someone else's change of the same value is shown, and either is kept", async () => {
    for (const [button, expected] of [
      ['Keep theirs', 'city'],
      ['Overwrite', 'port'],
    ] as const) {
      await pages.admin.patch(`/api/v1/spots/${second}`, { kind: null });
      await open();
      await cell(second, 'kind').focus();
      await page.keyboard.press('Enter');
      await editor().getByLabel('kind').selectOption('port');
      await pages.admin.patch(`/api/v1/spots/${second}`, { kind: 'city' });
      await page.keyboard.press('Enter');
      await editor().getByText('It is now “city”.').waitFor();
      await editor().getByRole('button', { name: button }).click();
      await editor().waitFor({ state: 'detached' });
      assert.equal((await stored(second)).kind, expected);
      await cell(second, 'kind').getByText(expected).waitFor();
    }
  });

  test("someone else's change of another value stays", async () => {
    await open();
    await cell(second, 'title').focus();
    await page.keyboard.press('Enter');
    await editor().getByLabel('title').fill('Old market');
    await pages.admin.patch(`/api/v1/spots/${second}`, { stars: 7 });
    await page.keyboard.press('Enter');
    await editor().waitFor({ state: 'detached' });
    const { title, stars } = await stored(second);
    assert.deepEqual([title, stars], ['Old market', 7]);
  });

  test('a click beside the editor saves', async () => {
    await open();
    await cell(first, 'title').focus();
    await page.keyboard.press('Enter');
    await editor().getByLabel('title').fill('New harbour');
    await page.mouse.click(1200, 850);
    await editor().waitFor({ state: 'detached' });
    assert.equal((await stored(first)).title, 'New harbour');
  });

  test('a deleted record says so', async () => {
    const { id } = await pages.admin.create('spots', { title: 'Zoo' });
    await open();
    await cell(id, 'title').focus();
    await page.keyboard.press('Enter');
    await editor().getByLabel('title').fill('Zoos');
    await pages.admin.delete(`/api/v1/spots/${id}`);
    await page.keyboard.press('Enter');
    await editor()
      .getByText(/not found/i)
      .waitFor();
    await page.keyboard.press('Escape');
  });

  test('a value that needs more room, and a click on a cell, open the record', async () => {
    await open();
    await cell(first, 'story').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Edit record in spots' }).waitFor();
    await open();
    await cell(first, 'title').click();
    await page.getByRole('heading', { name: 'Edit record in spots' }).waitFor();
  });

  test('a related record is found by its name and chosen with the keyboard, and the cell shows the name', async () => {
    await open();
    await cell(first, 'owner').focus();
    await page.keyboard.press('Enter');
    await editor().getByRole('button', { name: /^Ada/ }).waitFor();
    await page.keyboard.type('gra');
    await editor().getByRole('button', { name: /^Ada/ }).waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await editor().getByRole('link', { name: 'Grace' }).waitFor();
    await page.keyboard.press('Enter');
    await editor().waitFor({ state: 'detached' });
    assert.equal((await stored(first)).owner, grace);
    await cell(first, 'owner').getByText('Grace').waitFor();
  });

  test('a search that chose no related record is neither saved nor lost', async () => {
    await open();
    await cell(second, 'owner').focus();
    await page.keyboard.press('Enter');
    await editor().getByLabel('owner').fill('nobody');
    await page.mouse.click(1200, 850);
    await editor().getByText('Choose a record from the list').waitFor();
    assert.equal(await editor().getByLabel('owner').inputValue(), 'nobody');
    assert.equal((await stored(second)).owner, null);
  });

  test("someone else's choice of a related record shows its name", async () => {
    await open();
    await page.getByText('live', { exact: true }).waitFor();
    await pages.admin.patch(`/api/v1/spots/${second}`, { owner: grace });
    await cell(second, 'owner').getByText('Grace').waitFor();
  });

  test('JSON has lines and is saved with Ctrl-S, and a mistake in it is not', async () => {
    await open();
    await cell(first, 'meta').focus();
    await page.keyboard.press('Enter');
    await editor().locator('[contenteditable]').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('{"a": 2,\n');
    await page.keyboard.press('Control+s');
    await editor().getByRole('alert').waitFor();
    assert.deepEqual((await stored(first)).meta, { a: 1 });
    await editor().locator('[contenteditable]').focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('{"a":');
    await page.keyboard.press('Enter');
    await page.keyboard.insertText('[3]}');
    await page.keyboard.press('Control+s');
    await editor().waitFor({ state: 'detached' });
    assert.deepEqual((await stored(first)).meta, { a: [3] });
    await cell(first, 'meta').getByText('{"a":[3]}').waitFor();
  });

  test('a point has its two numbers and the map', async () => {
    await open();
    await cell(first, 'place').focus();
    await page.keyboard.press('Enter');
    await editor().getByRole('button', { name: 'Zoom in' }).waitFor();
    await editor().getByLabel('place', { exact: true }).fill('48.2');
    await editor().getByLabel('place: longitude').fill('16.4');
    await page.keyboard.press('Enter');
    await editor().waitFor({ state: 'detached' });
    assert.deepEqual((await stored(first)).place, { lat: 48.2, lng: 16.4 });
  });

  test('the editor works in both themes and widths', async () => {
    const opens = async () => {
      await cell(first, 'title').focus();
      await page.keyboard.press('Enter');
      await editor().getByLabel('title').fill('');
      await page.keyboard.press('Enter');
      await editor().getByRole('alert').waitFor();
    };
    const path = '/_/collections/spots/records?sort=title';
    await look(page, pages.stack.url, { name: 'inline-edit', path, shows: 'New harbour', opens });
  });

  test('the editor of a related record does too', async () => {
    const opens = async () => {
      await cell(first, 'owner').focus();
      await page.keyboard.press('Enter');
      await editor().getByRole('button', { name: /^Ada/ }).waitFor();
    };
    const path = '/_/collections/spots/records?sort=title';
    await look(page, pages.stack.url, { name: 'inline-edit-relation', path, shows: 'New harbour', opens });
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
