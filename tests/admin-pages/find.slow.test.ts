import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import { look } from './look.ts';
import { type OpenPages, openPages } from './open-pages.ts';

describe('finding records', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let page: Page;
  let ada: string;

  before(async () => {
    pages = await openPages(async (client) => {
      await client.post('/api/v1/collections', { name: 'people', fields: [{ name: 'name', type: 'text' }] });
      const fields = [
        { name: 'title', type: 'text' },
        { name: 'body', type: 'editor' },
        { name: 'year', type: 'number' },
        { name: 'sold', type: 'bool' },
        { name: 'shelf', type: 'select', options: { values: ['red', 'blue'] } },
        { name: 'author', type: 'relation', collection: 'people' },
        { name: 'read', type: 'date' },
        { name: 'secret', type: 'text', options: { encrypted: true } },
      ];
      await client.post('/api/v1/collections', { name: 'books', fields });
      const definition = {
        name: 'words',
        type: 'search',
        fields: [{ field: 'title', weight: 'A' }, { field: 'body' }],
      };
      await client.post('/api/v1/admin/collections/books/indexes', { ...definition, language: 'english' });
      ({ id: ada } = await client.create('people', { name: 'Ada' }));
      await client.create('books', { title: 'Gardening', body: 'museums', year: 1990, sold: true, shelf: 'red' });
      await client.create('books', { title: 'A museum', body: 'sea', year: 2000, author: ada, read: 1_767_225_600 });
      await client.create('books', { title: 'Sailing', body: 'ships', year: 2010, sold: false, shelf: 'blue' });
    });
    ({ page } = pages);
  });
  after(() => pages?.[Symbol.asyncDispose]());

  const titles = () => page.locator('tbody tr[data-id] td:nth-child(3)').allTextContents();
  async function finds(...expected: string[]): Promise<void> {
    await page.getByText(`${expected.length} record${expected.length === 1 ? '' : 's'}`, { exact: true }).waitFor();
    await page
      .locator('tbody tr[data-id]')
      .nth(expected.length - 1)
      .waitFor();
    assert.deepEqual(await titles(), expected);
  }
  async function search(text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Filter' }).click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type(text);
    await page.keyboard.press('Escape');
    await pages.button('Filter').click();
  }
  const field = (number: number) => page.getByLabel(`Condition ${number}: field`);
  const operator = (number: number) => page.getByLabel(`Condition ${number}: test`);
  const value = (number: number) => page.getByLabel(`Condition ${number}: value`);
  const asked = () => new URL(page.url()).searchParams.get('filter');

  test('with a search index, words find all their forms, best matches first', async () => {
    await pages.open('collections/books/records');
    await search('museum');
    await page.getByText('Best matches first').waitFor();
    await finds('A museum', 'Gardening');
    await page.getByRole('checkbox', { name: 'Select all rows' }).check();
    assert.equal(await page.getByText('2 selected').count(), 1);
    await pages.button('Clear').last().click();
    await pages.open('collections/books/records?filter=museums+-gardening');
    await finds('A museum');
  });

  test('an id and a number are still found', async () => {
    await pages.open(`collections/people/records?filter=${ada}`);
    await finds('Ada');
    await pages.open('collections/books/records?filter=2010');
    await finds('Sailing');
  });

  test('an export says that it does not use the search index', async () => {
    await pages.open('collections/books/records?filter=museum&export=1');
    await page.getByRole('dialog').getByText('it has all records').waitFor();
    await page.keyboard.press('Escape');
  });

  test('conditions write the expression that one could type', async () => {
    await pages.open('collections/books/records');
    await finds('Sailing', 'A museum', 'Gardening');
    await pages.button('Conditions').click();
    await field(1).waitFor();
    assert.deepEqual(await field(1).locator('option').allTextContents(), [
      'id',
      'title',
      'body',
      'year',
      'sold',
      'shelf',
      'author',
      'read',
      'created',
      'updated',
    ]);
    await field(1).selectOption('year');
    await operator(1).selectOption('is at least');
    await pages.button('Apply').click();
    await page.getByText('Enter the missing value.').waitFor();
    assert.equal(await value(1).getAttribute('aria-invalid'), 'true');
    await value(1).fill('2000');
    await page.keyboard.press('Enter');
    await finds('Sailing', 'A museum');
    assert.equal(asked(), 'year >= 2000');
    await pages.button('Add condition').click();
    await field(2).selectOption('shelf');
    await value(2).selectOption('blue');
    await pages.button('Apply').click();
    await finds('Sailing');
    assert.equal(asked(), 'year >= 2000 && shelf = "blue"');
    await page.getByRole('combobox', { name: 'Show records that match' }).selectOption('any condition');
    await pages.button('Apply').click();
    await finds('Sailing', 'A museum');
    await pages.button('Remove condition 1').click();
    await field(1).selectOption('author');
    await value(1).fill('ad');
    await page.getByRole('button', { name: /^Ada/ }).click();
    await pages.button('Apply').click();
    await finds('A museum');
    assert.equal(asked(), `author = "${ada}"`);
    await pages.button('Remove condition 1').click();
    await pages.button('Show all records').click();
    await finds('Sailing', 'A museum', 'Gardening');
  });

  test('conditions read an expression back, and keep the part that they cannot show', async () => {
    await pages.open('collections/books/records');
    await search('title ~ "a" && author.name = "Ada" && read < @now-1d && created > @now-2d');
    await finds('A museum');
    await pages.button('Conditions').click();
    assert.equal(await value(1).inputValue(), 'a');
    await page.locator('code', { hasText: 'author.name = "Ada"' }).waitFor();
    await page.locator('code', { hasText: 'read < @now-1d' }).waitFor();
    assert.equal(await value(4).inputValue(), '2');
    await value(1).fill('museum "');
    await pages.button('Apply').click();
    await page.getByText('No matching records').waitFor();
    assert.equal(asked(), 'title ~ "museum \\"" && author.name = "Ada" && read < @now-1d && created > @now-2d');
    await search('sold = true || title = "Sailing"');
    await page.getByRole('combobox', { name: 'Show records that match' }).waitFor();
    assert.equal(await value(2).inputValue(), 'Sailing');
    assert.equal(await value(1).count(), 0, 'true is in the test');
  });

  test('conditions work in both themes and widths', async () => {
    const path =
      '/_/collections/books/records?filter=year+%3E+1+%26%26+author.name+%3D+%22Ada%22+%26%26+shelf+!%3D+%22red%22';
    const opens = async () => {
      await pages.button('Conditions').click();
      await value(3).waitFor();
    };
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await look(page, pages.stack.url, { name: 'conditions', path, shows: 'A museum', opens });
  });

  test('a view keeps filter, sort and columns by name', async () => {
    await pages.open('collections/books/records?filter=year+%3E+1995&sort=year');
    await finds('A museum', 'Sailing');
    await page.getByText('Columns', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'body' }).uncheck();
    await page.keyboard.press('Escape');
    await page.getByText('Views', { exact: true }).click();
    await page.getByLabel('New view').fill('Recent <b>books</b>');
    await page.getByLabel('Share with all admins').check();
    await page.keyboard.press('Enter');
    await page.locator('summary', { hasText: 'Recent <b>books</b>' }).waitFor();
    const link = page.url();
    await page.evaluate('localStorage.clear()');
    await pages.open('collections/books/records');
    await finds('Sailing', 'A museum', 'Gardening');
    await page.getByRole('columnheader', { name: 'body' }).waitFor();
    await page.getByText('Views', { exact: true }).click();
    await page.getByRole('button', { name: 'Recent <b>books</b> shared' }).click();
    await finds('A museum', 'Sailing');
    await page.getByRole('columnheader', { name: 'body' }).waitFor({ state: 'detached' });
    await page.goto(link);
    await page.getByRole('columnheader', { name: 'body' }).waitFor({ state: 'detached' });
    await finds('A museum', 'Sailing');
  });

  test('a changed view says so, can be saved again, and comes back after a delete', async () => {
    await search('year > 2005');
    await finds('Sailing');
    await page.getByTitle('Changed since it was saved').waitFor();
    const summary = page.locator('summary', { hasText: 'Recent <b>books</b>' });
    await summary.click();
    await page.getByRole('button', { name: 'Save changes to Recent' }).click();
    await page.getByTitle('Changed since it was saved').waitFor({ state: 'detached' });
    const stored = async () => {
      const { data } = (await pages.admin.get('/api/v1/admin/saved-views')).json as {
        data: readonly { readonly filter: string; readonly shared: boolean }[];
      };
      return data.map(({ filter, shared }) => ({ filter, shared }));
    };
    assert.deepEqual(await stored(), [{ filter: 'year > 2005', shared: true }]);
    await summary.click();
    await page.getByRole('button', { name: 'Delete the view' }).click();
    await page.getByText('A view keeps the filter').waitFor();
    assert.deepEqual(await stored(), []);
    await pages.button('Undo').click();
    await page.getByText('Views', { exact: true }).click();
    await page.getByRole('button', { name: 'Recent <b>books</b> shared' }).waitFor();
    assert.deepEqual(await stored(), [{ filter: 'year > 2005', shared: true }]);
    await page.keyboard.press('Escape');
  });

  test('views work in both themes and widths', async () => {
    const opens = async () => {
      await page.getByText('Views', { exact: true }).click();
      await page.getByRole('button', { name: 'Recent <b>books</b> shared' }).waitFor();
    };
    const path = '/_/collections/books/records';
    await look(page, pages.stack.url, { name: 'views', path, shows: 'A museum', opens });
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
