import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import type { Client } from '../harness/clients/client.ts';
import { textAt } from '../harness/json.ts';
import { repository } from '../harness/stacks/stack.ts';
import { look } from './look.ts';
import { type OpenPages, openPages } from './open-pages.ts';

const run = promisify(execFile);
const hostile = `it's "quoted" \\ $HOME \`id\``;

describe('search by plain words, and help with the API', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let page: Page;
  let admin: Client;
  let token: string;
  let id: string;

  before(async () => {
    pages = await openPages(async (client) => {
      const fields = [
        { name: 'title', type: 'text', required: true, options: { unique: true } },
        { name: 'author', type: 'text' },
        { name: 'note', type: 'text' },
        { name: 'year', type: 'number' },
        { name: 'secret', type: 'text', options: { encrypted: true } },
        { name: 'place', type: 'geoPoint' },
      ];
      await client.post('/api/v1/collections', { name: 'books', fields });
      await client.post('/api/v1/collections', { name: 'counts', fields: [{ name: 'stars', type: 'number' }] });
      await client.create('books', {
        title: 'Kindred',
        author: 'Octavia Butler',
        year: 1979,
        secret: 'Sowing',
        note: hostile,
      });
      await client.create('books', { title: 'Parable', author: 'Octavia Butler', year: 1993, note: hostile });
      id = textAt(
        await client.post('/api/v1/records/books', { title: 'Emma', author: 'a', year: 3, note: hostile }),
        'id',
      );
      await client.create('counts', { stars: 5 });
      const book = { name: 'book', type: 'relation', collection: 'books' };
      await client.post('/api/v1/collections', { name: 'reviews', fields: [book, { name: 'text', type: 'text' }] });
    });
    ({ page, admin } = pages);
    token = String(await page.evaluate("JSON.parse(sessionStorage.getItem('recordbus-admin')).token"));
  });
  after(() => pages?.[Symbol.asyncDispose]());

  const rows = () => page.locator('tbody tr[data-id]');
  async function search(text: string, count: number): Promise<void> {
    const filter = page.getByRole('textbox', { name: 'Filter' });
    await filter.click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type(text);
    await page.keyboard.press('Escape');
    await pages.button('Filter').click();
    if (count === 0) return page.getByText('No matching records').waitFor();
    await page.getByText(`${count} record${count === 1 ? '' : 's'}`, { exact: true }).waitFor();
    await rows()
      .nth(count - 1)
      .waitFor();
  }

  test('plain words find records in text fields, each word anywhere, and numbers in number fields', async () => {
    await pages.open('collections/books/records');
    await rows().nth(2).waitFor();
    await search('octavia', 2);
    await search('octavia kin', 1);
    await search('1993', 1);
    await search('nobody', 0);
    await search("it's", 3);
    await search('"Octavia Butler" 1979', 1);
    await search('Sowing', 0);
    await search(id, 1);
    await page.getByText('Searches').waitFor();
  });

  test('an expression still is one, and an error says how to correct it with fields that exist', async () => {
    await pages.open('collections/books/records');
    await search('year > 1980', 1);
    await search('title', 0);
    await page.getByRole('textbox', { name: 'Filter' }).click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('titel = "x"');
    await page.keyboard.press('Escape');
    await pages.button('Filter').click();
    await page.getByText(/Fields: id, title, author/).waitFor();
  });

  test("the box's hint names a field of this collection, and one without texts finds numbers", async () => {
    await pages.open('collections/counts/records');
    await page.getByText('An expression: stars > 3').waitFor();
    await rows().first().waitFor();
    await search('5', 1);
    await search('6', 0);
  });

  /** Opens the calls in a language, and returns their texts by name. */
  async function samples(language: string): Promise<ReadonlyMap<string, string>> {
    await pages.open('collections/books/records');
    await pages.button('API').click();
    const sheet = page.getByRole('dialog');
    await sheet.getByText('Changes only what it sends.').waitFor();
    await sheet.getByRole('tab', { name: language }).click();
    const sections = sheet.locator('section');
    const texts = await Promise.all(
      (await sections.all()).map(async (one) => [
        String(await one.locator('h3').textContent()),
        String(await one.locator('pre').textContent()),
      ]),
    );
    return new Map(texts as [string, string][]);
  }
  test('the calls with curl run as they stand, on a real record', async () => {
    const calls = await samples('curl');
    assert.deepEqual([...calls.keys()], ['List', 'Get', 'Create', 'Update', 'Delete', 'Live']);
    const curl = async (name: string) => {
      const env = { ...process.env, TOKEN: token };
      const { stdout } = await run('sh', ['-c', `${calls.get(name)} -s`], { env });
      return stdout === '' ? {} : JSON.parse(stdout);
    };
    assert.equal((await curl('List')).data.length, 3);
    const { data: first } = await curl('Get');
    assert.equal(first.note, hostile);
    const { data: created } = await curl('Create');
    assert.deepEqual([created.title, created.note], [`${first.title} 2`, hostile]);
    assert.equal((await curl('Update')).data.id, first.id);
    await curl('Delete');
    const { json } = await admin.get('/api/v1/books');
    assert.deepEqual(
      (json as { data: { id: string }[] }).data.filter(({ id: one }) => one === first.id),
      [],
    );
  });

  test('the calls with the client run as they stand', async () => {
    const calls = await samples('Client');
    const program = `${calls.get('Begin')}
${['List', 'Get', 'Create', 'Update', 'Delete'].map((name) => calls.get(name)).join('\n')}
console.log(page.data.length, record.title, created.title);`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: repository,
      env: { ...process.env, TOKEN: token },
    });
    assert.match(stdout, /^3 /);
  });

  test('the reference is in the navigation, and Ctrl-K finds it by each of its words', async () => {
    await pages.open('');
    await page.getByRole('link', { name: 'API reference' }).waitFor();
    for (const word of ['api', 'docs', 'schema', 'types']) {
      await page.keyboard.press('Control+K');
      await page.getByRole('combobox', { name: 'Search' }).waitFor();
      await page.keyboard.type(word);
      await page.getByRole('option', { name: 'API reference' }).waitFor();
      await page.getByRole('option', { name: 'books: API' }).waitFor();
      await page.keyboard.press('Escape');
    }
    await page.getByRole('link', { name: 'API reference' }).click();
    await page.getByText('Operations available to this token.').waitFor();
  });

  test('the types of one collection and of all are those of the command line', async () => {
    await pages.open('collections/books/records');
    await pages.button('API').click();
    await page.getByRole('tab', { name: 'Types' }).click();
    const own = page.getByRole('dialog').locator('section pre');
    await own.getByText('export interface BooksCreate').waitFor();
    const text = String(await own.textContent());
    assert.match(text, /^\/\*\* A record of `books`/);
    assert.doesNotMatch(text, /interface Counts|interface Schema/);
    const answer = await fetch(`${pages.stack.url}/api/v1/admin/schema/types`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const all = await answer.text();
    assert.ok(all.includes(text.trim()));
    await pages.open('types');
    const shown = page.getByRole('region', { name: 'Types', exact: true });
    await shown.waitFor();
    assert.equal(await shown.textContent(), all);
    assert.equal((await fetch(`${pages.stack.url}/api/v1/admin/schema/types`)).status, 401);
  });

  test('a schema is drawn, planned and applied, and a drop has to be allowed', async () => {
    await pages.open('schema');
    const diagram = page.getByRole('region', { name: 'Diagram of relations' });
    await diagram.getByRole('link', { name: /^reviews\s*book\s*1 other field/ }).waitFor();
    await page.getByText('reviews.book → books').waitFor({ state: 'attached' });
    const { json } = await admin.get('/api/v1/admin/schema');
    const { data: before } = json as { data: { collections: object[] } };
    const choose = (schema: unknown) =>
      page.getByLabel('Schema', { exact: true }).setInputFiles({
        name: 'schema.json',
        mimeType: 'application/json',
        buffer: Buffer.from(typeof schema === 'string' ? schema : JSON.stringify(schema)),
      });
    const scan = { name: 'scan', type: 'file', options: { mimeTypes: ['image/pngg'] } };
    await choose('{"a": 1}');
    await page.getByText('is not a downloaded schema').waitFor();
    await choose({
      ...before,
      collections: [...before.collections, { name: 'tags', fields: [{ name: 'x', type: 'none' }] }],
    });
    await pages.button('Plan').click();
    await page.getByRole('alert').filter({ hasText: 'tags' }).filter({ hasText: 'type' }).waitFor();
    await choose({
      ...before,
      collections: [...before.collections, { name: 'tags', fields: [{ name: 'x', type: 'text' }, scan] }],
    });
    await pages.button('Plan').click();
    await page.getByText('1 change', { exact: true }).waitFor();
    await page.getByText('scan lists image/pngg in mimeTypes').waitFor();
    await pages.button('Apply').click();
    await page.getByText('Schema applied.').waitFor();
    await page.getByText('Nothing to do').waitFor();
    await diagram.getByRole('link', { name: /^tags/ }).waitFor();
    await choose(before);
    await pages.button('Plan').click();
    await pages.button('Apply').waitFor();
    assert.equal(await pages.button('Apply').isDisabled(), true);
    await page.getByLabel('Drop tags').check();
    await pages.button('Apply').click();
    await page.getByText('Nothing to do').waitFor();
    assert.equal((await admin.get('/api/v1/collections/tags')).status, 404);
    await diagram.getByRole('link', { name: /^books/ }).click();
    await page.getByRole('heading', { name: 'books' }).waitFor();
  });

  test('Ctrl-K finds both pages', async () => {
    await pages.open('');
    await page.getByRole('link', { name: 'Schema' }).waitFor();
    for (const [word, found] of [
      ['diagram', 'Schema'],
      ['apply', 'Schema'],
      ['typescript', 'Types'],
    ] as const) {
      await page.keyboard.press('Control+K');
      await page.getByRole('combobox', { name: 'Search' }).fill(word);
      await page.getByRole('option', { name: new RegExp(`^${found}`) }).waitFor();
      await page.keyboard.press('Escape');
    }
  });

  test('both pages in both themes and at both widths', async () => {
    // Colours do not change slowly.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await look(page, pages.stack.url, { name: 'schema', path: '/_/schema', shows: 'Plan and apply' });
    await look(page, pages.stack.url, { name: 'types', path: '/_/types', shows: 'export interface Schema' });
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
