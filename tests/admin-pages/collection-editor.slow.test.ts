import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { type OpenPages, openPages } from './open-pages.ts';

describe('the collection editor', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let page: Page;
  let admin: Client;

  before(async () => {
    pages = await openPages(async (client) => {
      await client.post('/api/v1/collections', { name: 'people', type: 'auth', fields: [] });
      await client.post('/api/v1/collections', { name: 'teams', fields: [{ name: 'name', type: 'text' }] });
      const relation = (name: string, collection: string) => ({ name, type: 'relation', collection });
      const fields = [relation('person', 'people'), relation('team', 'teams')];
      await client.post('/api/v1/collections', { name: 'memberships', fields });
      await client.post('/api/v1/collections', {
        name: 'notes',
        fields: [{ name: 'title', type: 'text' }, relation('author', 'people'), relation('team', 'teams')],
        ...{ list_rule: '', view_rule: '', create_rule: '', update_rule: '', delete_rule: '' },
      });
    });
    ({ page, admin } = pages);
  });
  after(() => pages?.[Symbol.asyncDispose]());

  const tab = (name: string) => page.getByRole('tab', { name });
  const rulesOf = async (name: string): Promise<unknown[]> => {
    const { data } = (await admin.get(`/api/v1/collections/${name}`)).json as { data: Record<string, unknown> };
    return ['list', 'view', 'create', 'update', 'delete'].map((rule) => data[`${rule}_rule`]);
  };
  const save = async (name = 'notes'): Promise<void> => {
    await pages.button('Save').click();
    await page.getByText(`Saved ${name}.`).last().waitFor();
    await page.getByText(`Saved ${name}.`).last().waitFor({ state: 'detached' });
  };

  test('tabs keep what was typed, are reached with the arrow keys, and are in the address', async () => {
    await pages.open('collections/notes/settings');
    await page.getByRole('textbox', { name: 'Field name' }).first().fill('heading');
    await tab('Fields').focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText('Who can do what.').waitFor();
    assert.match(page.url(), /tab=rules/);
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Rules');
    assert.equal(await page.getByRole('textbox', { name: 'Field name' }).count(), 0);
    await page.keyboard.press('ArrowLeft');
    assert.equal(await page.getByRole('textbox', { name: 'Field name' }).first().inputValue(), 'heading');
    await page.getByRole('textbox', { name: 'Field name' }).first().fill('title');
    await pages.open('collections/notes/settings?tab=indexes');
    await pages.button('Add index').waitFor();
  });

  test("a wrong field's options open, and its control has the focus and is in view", async () => {
    await pages.open('new-collection');
    await page.getByLabel('Name', { exact: false }).first().fill('orders');
    for (let index = 0; index < 18; index += 1) {
      await pages.button('Add field').click();
      await page.keyboard.type(`filler_${index}`);
    }
    await page.getByRole('textbox', { name: 'Field name' }).first().fill('company');
    await page.getByLabel('Type of company').selectOption('relation');
    await pages.button('Options of company').click();
    await tab('Rules').click();
    await pages.button('Create collection').click();
    const wrong = page.getByRole('combobox', { name: 'Collection', exact: true });
    await wrong.waitFor();
    await eventually('it has the focus', async () => wrong.evaluate((one) => one.matches(':focus')));
    assert.equal(await page.evaluate('document.activeElement.matches("[aria-invalid]")'), true);
    const box = await wrong.boundingBox();
    assert.ok(box && box.y > 0 && box.y < 900, JSON.stringify(box));
    await page.getByRole('tab', { name: 'Fields 1 to check' }).waitFor();
    await wrong.selectOption('people');
    await pages.button('Create collection').click();
    await page.getByText('Saved orders.').waitFor();
  });

  test('rules are in words with the value in small print, and presets write them', async () => {
    await pages.open('collections/notes/settings?tab=rules');
    const list = page.getByLabel('List: who can');
    await list.selectOption('Everyone, guests too');
    await page.getByText('null', { exact: true }).waitFor();
    await page.getByLabel('View: who can').selectOption('Users');
    await page.getByLabel('Update: who can').selectOption('Owner (author)');
    await page.getByLabel('Delete: who can').selectOption('Members (memberships)');
    await save();
    assert.deepEqual(await rulesOf('notes'), [
      null,
      '@request.auth.id != ""',
      '',
      'author = @request.auth.id',
      'exists(memberships, person = @request.auth.id && team = record.team)',
    ]);
  });

  test('a preset sets all rules, and a reader of the page sees whom they admit', async () => {
    await pages.open('collections/notes/settings?tab=rules');
    await page.getByLabel('Set all rules').selectOption('Public read, owner (author) writes');
    await save();
    const own = 'author = @request.auth.id';
    assert.deepEqual(await rulesOf('notes'), [null, null, own, own, own]);
    await page.getByLabel('Set all rules').selectOption('Admins only');
    assert.equal(await page.getByText('""', { exact: true }).count(), 6, 'with the webhook rule');
    await save();
    assert.deepEqual(await rulesOf('notes'), ['', '', '', '', '']);
  });

  test('warnings about a new collection are on the page that follows, until they are dismissed', async () => {
    await pages.open('new-collection');
    await page.getByLabel('Name', { exact: false }).first().fill('letters_to_all');
    await page.getByRole('textbox', { name: 'Field name' }).fill('text');
    await tab('Rules').click();
    await page.getByLabel('Create: who can').selectOption('Everyone, guests too');
    await pages.button('Create collection').click();
    const warnings = page.getByRole('list', { name: 'Warnings' });
    await page.getByRole('heading', { name: 'letters_to_all' }).waitFor();
    await warnings.getByText('guests').first().waitFor();
    await page.getByRole('link', { name: 'Settings', exact: true }).last().click();
    await tab('Rules').waitFor();
    await warnings.waitFor();
    await pages.button('Dismiss warnings').click();
    await warnings.waitFor({ state: 'detached' });
    await pages.open('collections/letters_to_all/records');
    await page.getByText('No records yet').waitFor();
    assert.equal(await warnings.count(), 0);
  });

  test('a rule with several lines does not stretch its select', async () => {
    await pages.open('collections/notes/settings?tab=rules');
    await page.getByLabel('List: who can').selectOption('some');
    await page.locator('.cm-content').first().waitFor();
    await page.getByRole('textbox', { name: 'List' }).fill('title = "a"\n|| title = "b"\n|| title = "c"');
    const box = await page.getByLabel('List: who can').boundingBox();
    assert.ok(box && box.height < 40, JSON.stringify(box));
    await save();
  });

  test('how long records stay is an option, which follows its field and says what is wrong', async () => {
    const fields = [
      { name: 'left', type: 'date' },
      { name: 'name', type: 'text' },
    ];
    await admin.post('/api/v1/collections', { name: 'hotel_visits', fields });
    const retainOf = async () => at((await admin.get('/api/v1/collections/hotel_visits')).json, 'data.retain');
    await pages.open('collections/hotel_visits/settings?tab=options');
    const days = page.getByLabel('Keep records', { exact: true });
    assert.equal(await page.getByLabel('Counted from').count(), 0);
    await days.fill('0');
    await pages.button('Save').click();
    await page.getByText('must be at least 1', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Options 1 to check' }).waitFor();
    await eventually('it has the focus', async () => days.evaluate((one) => one.matches(':focus')));
    await days.fill('a month');
    await page.getByText('Not a number.', { exact: true }).waitFor();
    await days.fill('30');
    await page.getByLabel('Counted from').selectOption('left');
    await page.getByLabel('Then', { exact: true }).selectOption('Empty the record');
    await save('hotel_visits');
    assert.deepEqual(await retainOf(), { days: 30, field: 'left', action: 'redact' });

    await tab('Fields').click();
    await page.getByRole('textbox', { name: 'Field name' }).first().fill('departed');
    await save('hotel_visits');
    assert.deepEqual(await retainOf(), { days: 30, field: 'departed', action: 'redact' });

    await pages.button('Drop departed').click();
    await pages.button('Save').click();
    await page.getByLabel('Type hotel_visits to confirm').fill('hotel_visits');
    await page.keyboard.press('Enter');
    await page.getByText('must be a date or autodate field, created or updated').waitFor();
    await tab('Options').click();
    await days.fill('');
    await pages.button('Save').click();
    await page.getByLabel('Type hotel_visits to confirm').fill('hotel_visits');
    await page.keyboard.press('Enter');
    await page.getByText('Saved hotel_visits.').last().waitFor();
    assert.equal(await retainOf(), undefined);
  });

  test('how many versions stay is an option of collections with a history', async () => {
    await admin.post('/api/v1/collections', { name: 'hotel_menus', fields: [{ name: 'dish', type: 'text' }] });
    const keptOf = async () => at((await admin.get('/api/v1/collections/hotel_menus')).json, 'data.history_keep');
    await pages.open('collections/hotel_menus/settings?tab=options');
    const days = page.getByLabel('Keep versions');
    await page.getByLabel('Keep a history of every record').waitFor();
    assert.equal(await days.count(), 0);
    await page.getByLabel('Keep a history of every record').check();
    await days.fill('365');
    await page.getByLabel('Versions of a record').fill('2.5');
    await pages.button('Save').click();
    await page.getByText('must be a whole number', { exact: true }).waitFor();
    await page.getByLabel('Versions of a record').fill('100');
    await save('hotel_menus');
    assert.deepEqual(await keptOf(), { days: 365, versions: 100 });
    await days.fill('');
    await save('hotel_menus');
    assert.deepEqual(await keptOf(), { versions: 100 });
    await page.getByLabel('Versions of a record').fill('');
    await save('hotel_menus');
    assert.equal(await keptOf(), undefined);
  });

  test('a collection that begins at Users is an auth collection whose accounts see themselves', async () => {
    await pages.open('new-collection?type=auth');
    assert.equal(await page.getByLabel('Type', { exact: true }).inputValue(), 'auth');
    assert.equal(await page.getByLabel('Name', { exact: false }).first().inputValue(), 'users');
    await pages.button('Create collection').click();
    await page.getByText('Saved users.').waitFor();
    const own = 'id = @request.auth.id';
    assert.deepEqual(await rulesOf('users'), ['', own, '', own, own]);
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
