import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import type { Client } from '../harness/clients/client.ts';
import { numberAt } from '../harness/json.ts';
import { type OpenPages, openPages } from './open-pages.ts';
import { openSignedIn } from './watched-page.ts';

/** More versions than a history page has. */
const versions = 130;

describe('records on the admin pages', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let page: Page;
  let admin: Client;
  let id: string;

  before(async () => {
    pages = await openPages(async (client) => {
      const fields = [
        { name: 'title', type: 'text' },
        { name: 'tags', type: 'select', options: { values: ['red', 'green', 'blue'], multiple: true } },
        { name: 'photos', type: 'file', options: { multiple: true } },
        { name: 'count', type: 'number' },
        { name: 'maker', type: 'relation', collection: 'makers' },
        { name: 'parts', type: 'relation', collection: 'makers', options: { multiple: true } },
      ];
      await client.post('/api/v1/collections', {
        name: 'makers',
        fields: [
          { name: 'code', type: 'text' },
          { name: 'name', type: 'text' },
        ],
      });
      await client.post('/api/v1/collections', { name: 'things', fields, history_enabled: true });
      ({ id } = await client.create('things', { title: 'first', count: 0 }));
      const operations = Array.from({ length: versions - 1 }, (_, index) => ({
        op: 'update',
        collection: 'things',
        id,
        data: { count: index + 1 },
      }));
      assert.equal((await client.send('POST', '/api/v1/batch', { body: { operations } })).status, 200);
    });
    ({ page, admin } = pages);
  });
  after(() => pages?.[Symbol.asyncDispose]());
  const stored = async (path: string) => (await admin.get(path)).json;

  test("the keys go to a new record's first field, and every choice and file arrives", async () => {
    await pages.open('collections/things/records');
    await pages.button('New record').first().click();
    await page.getByRole('dialog').getByLabel('title').waitFor();
    await page.keyboard.type('typed at once');
    await page.getByRole('group', { name: 'tags' }).getByLabel('blue').check();
    await page.getByRole('group', { name: 'tags' }).getByLabel('red').check();
    for (const name of ['one.txt', 'two.txt'])
      await page
        .getByRole('dialog')
        .getByLabel('photos')
        .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(name) });
    await page.getByRole('dialog').getByText('two.txt').waitFor();
    await pages.button('Create').click();
    await page.getByRole('cell', { name: 'typed at once' }).waitFor();
    const { data } = (await stored('/api/v1/things?filter=title="typed at once"')) as {
      data: readonly { tags: unknown; photos: readonly string[] }[];
    };
    assert.deepEqual(data[0]?.tags, ['red', 'blue']);
    assert.equal(data[0]?.photos.length, 2);
  });

  test("a relation shows the related record's name, in the grid and in the editor", async () => {
    const { id: maker } = await admin.create('makers', { code: 'm-1', name: 'Acme <b>Works</b>' });
    const { id: other } = await admin.create('makers', { code: 'm-2', name: '' });
    const values = { title: 'with a maker', maker, parts: [other, maker] };
    const { id: thing } = await admin.create('things', values);
    await pages.open('collections/things/records');
    const row = page.getByRole('row').filter({ hasText: 'with a maker' });
    await row.getByTitle(maker).first().waitFor();
    assert.equal(await row.getByTitle(maker).first().textContent(), 'Acme <b>Works</b>');
    assert.equal(await row.getByTitle(maker).count(), 2, 'the list of a multiple relation has it too');
    assert.match(String(await row.getByTitle(other).textContent()), /^…/, 'without a name the id is shown');
    await admin.patch(`/api/v1/things/${thing}`, { count: 7 });
    await row.getByRole('cell', { name: '7', exact: true }).waitFor();
    assert.equal(await row.getByTitle(maker).count(), 2, 'a live change keeps the names');
    await row.getByRole('cell', { name: 'with a maker' }).click();
    await page.getByRole('dialog').getByRole('link', { name: 'Acme <b>Works</b>' }).first().waitFor();
    await page.keyboard.press('Escape');
  });

  test("the browser refuses markup that a script writes without Svelte's policy", async () => {
    const write = (html: string) =>
      `(() => { try { document.body.insertAdjacentHTML('beforeend', ${html}); return 'written'; } catch (error) { return error.name; } })()`;
    const { page: own } = await openSignedIn(pages.browser, pages.stack.url, {});
    assert.equal(await own.evaluate(write("'<i>text</i>'")), 'TypeError');
    const policy = "trustedTypes.createPolicy('other', { createHTML: (html) => html }).createHTML('<i>text</i>')";
    assert.equal(await own.evaluate(write(policy)), 'TypeError');
    await own.context().close();
  });

  test("the browser's back button asks before it takes what was typed", async () => {
    await pages.open('collections/things/records');
    await page.getByRole('cell', { name: 'first' }).click();
    const title = page.getByRole('dialog').getByLabel('title');
    await title.fill('not saved');
    for (const leave of [() => page.goBack(), () => page.keyboard.press('Escape')]) {
      await leave();
      await page.getByRole('heading', { name: 'Discard unsaved changes?' }).waitFor();
      await pages.button('Cancel').last().click();
      await page.getByRole('heading', { name: 'Discard unsaved changes?' }).waitFor({ state: 'detached' });
      assert.equal(await title.inputValue(), 'not saved');
      assert.match(page.url(), new RegExp(`/records/${id}`));
    }
    await page.goBack();
    await pages.button('Discard').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.match(page.url(), /\/records$/);
    await page.getByRole('cell', { name: 'first' }).waitFor();
  });

  test("no value in a view's record can be changed", async () => {
    const viewQuery = 'select id, title, tags, photos, count, maker from things';
    await admin.post('/api/v1/collections', { name: 'shown', type: 'view', view_query: viewQuery });
    await pages.open(`collections/shown/records/${id}`);
    const sheet = page.getByRole('dialog');
    await sheet.getByLabel('title').waitFor();
    assert.equal(await sheet.getByRole('textbox').count(), await sheet.locator('[readonly]').count());
    assert.equal(
      await sheet.locator('input[type=checkbox]:not(:disabled), input[type=file], select:not(:disabled)').count(),
      0,
    );
    assert.equal(await pages.button('Save').count(), 0);
    await page.keyboard.press('Escape');
  });

  test('a record that is gone offers nothing but its history and to erase what is left', async () => {
    await pages.open('collections/things/records/none');
    await page.getByRole('heading', { name: 'Record not found' }).waitFor();
    const buttons = await page.getByRole('dialog').getByRole('button').allTextContents();
    assert.deepEqual(buttons, ['', 'Erase what is left…', 'Close']);
    await page.getByRole('link', { name: 'View history' }).waitFor();
  });

  test('a filter with a mistake shows the mistake, and no rows that never come', async () => {
    await pages.open('collections/things/records?filter=titel%20%3D%203');
    await page.getByText('things has no field "titel"').waitFor();
    assert.equal(await page.locator('tbody .skeleton').count(), 0);
  });

  test('what is typed while the editor is loaded stays in order', async () => {
    const editor = Promise.withResolvers<void>();
    await page.route('**/code-mirror-*.js', async (route) => {
      await editor.promise;
      await route.continue();
    });
    await pages.open('collections/things/records');
    const filter = page.getByRole('textbox', { name: 'Filter' });
    await filter.click();
    await page.keyboard.type('title = ');
    editor.resolve();
    await page.locator('[data-search] .cm-content').waitFor();
    await page.keyboard.type('"first"');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'first' }).waitFor();
    assert.match(page.url(), /filter=title\+%3D\+%22first%22/);
    await page.unroute('**/code-mirror-*.js');
  });

  test('a history shows all versions, each with what it changed', async () => {
    await pages.open(`collections/things/records/${id}/history`);
    await page.getByText('Current version').waitFor();
    assert.equal(await page.locator('main ol > li').count(), 99);
    assert.equal(await page.locator('main ol > li').last().locator('dt').count(), 1, 'only count has changed');
    await pages.button('Show older versions').click();
    await page
      .locator('main ol > li')
      .nth(versions - 1)
      .waitFor();
    await page.getByRole('button', { name: 'Restore' }).last().click();
    await page.getByText('Version restored.').waitFor();
    assert.equal(numberAt(await stored(`/api/v1/things/${id}`), 'data.count'), 0);
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
