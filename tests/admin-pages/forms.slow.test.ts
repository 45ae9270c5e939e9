import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import type { Client } from '../harness/clients/client.ts';
import { type OpenPages, openPages } from './open-pages.ts';

describe('an admin form with a value that cannot be read', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let page: Page;
  let admin: Client;

  before(async () => {
    pages = await openPages(async (client) => {
      const fields = [
        { name: 'title', type: 'text' },
        { name: 'meta', type: 'json' },
        { name: 'stars', type: 'number' },
        { name: 'place', type: 'geoPoint' },
        { name: 'due', type: 'date' },
        { name: 'parent', type: 'relation', collection: 'notes' },
        { name: 'vec', type: 'vector', options: { dimensions: 2 } },
      ];
      await client.post('/api/v1/collections', { name: 'notes', fields });
    });
    ({ page, admin } = pages);
  });
  after(() => pages?.[Symbol.asyncDispose]());
  /** A code editor's text, which is in a shadow tree. */
  const editor = (name: string) => page.getByRole('dialog').getByRole('textbox', { name, exact: true });
  const focused = () =>
    page.evaluate(
      "(document.activeElement?.shadowRoot?.activeElement ?? document.activeElement)?.getAttribute('aria-label')",
    );

  test('JSON that cannot be read is not saved, is marked and focused, and stays', async () => {
    const { id } = await admin.create('notes', { title: 'kept', meta: { a: 1 } });
    await pages.open(`collections/notes/records/${id}`);
    await page.getByRole('dialog').locator('.cm-content').first().waitFor();
    await editor('meta').fill('{"a": 2,}');
    await page.getByRole('dialog').getByLabel('title').fill('changed');
    await pages.button('Save').click();
    await page.getByText('Check meta.').waitFor();
    assert.match(
      String(await page.getByRole('alert').filter({ hasText: 'JSON' }).textContent()),
      /Not valid JSON: .*position 8/,
    );
    assert.equal(await focused(), 'meta');
    assert.equal(await editor('meta').getAttribute('aria-invalid'), 'true');
    assert.equal(await editor('meta').textContent(), '{"a": 2,}');
    const { json } = await admin.get(`/api/v1/notes/${id}`);
    assert.equal((json as { data: { title: string } }).data.title, 'kept');
    await editor('meta').fill('{"a": 2}');
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'JSON' }).waitFor({ state: 'detached' });
    await pages.button('Save').click();
    await page.getByText('Record saved.').waitFor();
    const saved = (await admin.get(`/api/v1/notes/${id}`)).json as { data: { title: string; meta: unknown } };
    assert.deepEqual([saved.data.title, saved.data.meta], ['changed', { a: 2 }]);
  });

  test('a sheet whose only change cannot be read asks before it closes, and cannot be saved', async () => {
    const { id } = await admin.create('notes', { title: 'kept', meta: { a: 1 } });
    await pages.open(`collections/notes/records/${id}`);
    await page.getByRole('dialog').locator('.cm-content').first().waitFor();
    await editor('meta').fill('{"a": ');
    await pages.button('Save').click();
    await page.getByText('Check meta.').waitFor();
    await pages.button('Cancel').click();
    await page.getByRole('heading', { name: 'Discard unsaved changes?' }).waitFor();
    await pages.button('Cancel').last().click();
    assert.equal(await editor('meta').textContent(), '{"a": ');
    await pages.button('Cancel').click();
    await pages.button('Discard').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  /** What a record's field takes, what it cannot read, and a value that it can. */
  const inputs: readonly (readonly [label: string, wrong: string, place: string])[] = [
    ['stars', '1,5', 'stars'],
    ['place', '48.2x', 'place.lat'],
    ['place: longitude', '--16', 'place.lng'],
    ['parent', 'nothing has this name', 'parent'],
  ];
  for (const [label, wrong, place] of inputs)
    test(`${label}: ${wrong} is not saved as another value`, async () => {
      const stored = { title: 'kept', stars: 4, place: { lat: 1, lng: 2 } };
      const { id } = await admin.create('notes', stored);
      await pages.open(`collections/notes/records/${id}`);
      const sheet = page.getByRole('dialog');
      await sheet.getByLabel('title').fill('changed');
      const input = sheet.getByLabel(label, { exact: true });
      await input.fill(wrong);
      await pages.button('Save').click();
      await page.getByText(`Check ${place}.`).waitFor();
      assert.equal(await input.inputValue(), wrong);
      assert.equal(await input.getAttribute('aria-invalid'), 'true');
      assert.equal(await page.evaluate('document.activeElement.value'), wrong);
      const { data } = (await admin.get(`/api/v1/notes/${id}`)).json as { data: Record<string, unknown> };
      assert.deepEqual([data.title, data.stars], ['kept', 4]);
      await input.fill('');
      await pages.button('Cancel').click();
      await pages.button('Discard').click();
      await sheet.waitFor({ state: 'detached' });
    });

  test('a date that is half filled in is not saved as no date', async () => {
    const { id } = await admin.create('notes', { title: 'kept', due: 1_700_000_000 });
    await pages.open(`collections/notes/records/${id}`);
    await page.getByRole('dialog').getByLabel('due').focus();
    await page.keyboard.press('Delete');
    await pages.button('Save').click();
    await page.getByText('Fill in the whole date and time.').waitFor();
    const { data } = (await admin.get(`/api/v1/notes/${id}`)).json as { data: Record<string, unknown> };
    assert.equal(data.due, 1_700_000_000);
    await pages.button('Cancel').click();
    await pages.button('Discard').click();
  });

  test('the collection editor saves neither a wrong option, a wrong default nor an empty rule', async () => {
    await pages.open('collections/notes/settings');
    await page.getByRole('button', { name: 'Options of stars' }).click();
    await page.getByLabel('Min', { exact: true }).fill('1,5');
    await page.getByLabel('Default', { exact: true }).fill('five');
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByLabel('Delete: who can').selectOption('some');
    await pages.button('Save').click();
    await page.getByText('Check delete_rule, field stars (min), field stars (default).').waitFor();
    await page.getByRole('tab', { name: 'Fields 2 to check' }).click();
    assert.equal(await page.getByLabel('Min', { exact: true }).inputValue(), '1,5');
    assert.equal(await page.getByLabel('Default', { exact: true }).inputValue(), 'five');
    const { data } = (await admin.get('/api/v1/collections/notes')).json as { data: Record<string, unknown> };
    assert.equal(data.delete_rule, null);
    await page.getByRole('tab', { name: 'Rules 1 to check' }).click();
    await page.getByLabel('Delete: who can').selectOption('everyone');
    await page.getByRole('tab', { name: 'Fields' }).click();
    await page.getByLabel('Min', { exact: true }).fill('1.5');
    await page.getByLabel('Default', { exact: true }).fill('5');
    await pages.button('Save').click();
    await page.getByText('Saved notes.').waitFor();
    const saved = (await admin.get('/api/v1/collections/notes')).json as { data: { fields: string } };
    assert.match(saved.data.fields, /"min":1.5/);
    assert.match(saved.data.fields, /"default":5/);
  });

  test('a webhook with a header that cannot be read is not saved without it', async () => {
    await pages.open('webhooks?new&url=https://example.com/hook');
    await page.getByRole('dialog').getByLabel('Name').fill('crm');
    await page.getByText('Delivery options').click();
    await page.getByLabel('Headers', { exact: true }).fill('X-Token abc');
    await page.getByText('Delivery options').click();
    await pages.button('Create webhook').click();
    await page.getByText('Line 1: write Name: value.').waitFor();
    assert.equal((await admin.get('/api/v1/admin/webhooks')).text.includes('crm'), false);
    await page.keyboard.press('Escape');
  });

  test('a key whose date was cleared does not become a key that never expires', async () => {
    await pages.open('keys?new');
    if ((await page.getByRole('dialog').count()) === 0) await pages.button('New key').first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('machine');
    await page.getByRole('dialog').getByLabel('Expires').fill('');
    await pages.button('Create key').click();
    await page.getByText('Choose a date, or No expiry.').waitFor();
    assert.equal((await admin.get('/api/v1/admin/keys')).text.includes('machine'), false);
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
