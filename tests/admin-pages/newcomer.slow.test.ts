import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, textAt } from '../harness/json.ts';
import { startChild } from '../harness/processes/child.ts';
import { findFreePort } from '../harness/processes/free-port.ts';
import { type MailServer, startMailServer } from '../harness/servers/mail-server.ts';
import { type OpenPages, openPages } from './open-pages.ts';

/** The rows of a spreadsheet. One has a state that the field does not allow. */
const rows = 'Title,State\nKeyboard missing,open\nMonitor flickers,closed\nMouse dead,solved\n';

/** A new user's first day, with nothing but the pages. The set-up itself is in `built-pages.test.ts`. */
describe('a new user', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let page: Page;
  let mails: MailServer;

  before(async () => {
    mails = await startMailServer();
    pages = await openPages(async () => {});
    ({ page } = pages);
  });
  after(async () => {
    await pages?.[Symbol.asyncDispose]();
    await mails?.[Symbol.asyncDispose]();
  });

  const tab = (name: string) => page.getByRole('tab', { name });
  const fieldNames = () => page.getByRole('textbox', { name: 'Field name' });
  const idOf = async (collection: string): Promise<string> =>
    textAt(listAt((await pages.admin.get(`/api/v1/${collection}`)).json, 'data')[0], 'id');

  /** Creates a collection whose first field is a text, with relations to other collections. */
  async function createCollection(name: string, text: string, relations: readonly [string, string][]): Promise<void> {
    await pages.open('new-collection');
    await page.getByLabel('Name', { exact: false }).first().fill(name);
    await fieldNames().fill(text);
    for (const [field, target] of relations) {
      await pages.button('Add field').click();
      await page.keyboard.type(field);
      await page.getByLabel(`Type of ${field}`).selectOption('relation');
      await page.getByRole('combobox', { name: 'Collection', exact: true }).last().selectOption(target);
    }
    await pages.button('Create collection').click();
    await page.getByRole('heading', { name, exact: true }).waitFor();
  }

  test('creates a collection, and reads which part of a field is missing', async () => {
    await pages.open('new-collection');
    await page.getByLabel('Name', { exact: false }).first().fill('tickets');
    await pages.button('Create collection').click();
    await page.getByText('Check field 1 (name).').waitFor();
    await fieldNames().fill('title');
    await pages.button('Add field').click();
    await page.keyboard.type('state');
    await page.getByLabel('Type of state').selectOption('select');
    await page.getByRole('textbox', { name: 'Values', exact: true }).fill('open\nwaiting\nsolved');
    await pages.button('Add field').click();
    await page.keyboard.type('team');
    await page.getByLabel('Type of team').selectOption('relation');
    await page.getByText('There is no other collection yet.').waitFor();
    await pages.button('Create collection').click();
    await page.getByText('Choose a collection.').waitFor();
    await pages.button('Drop team').click();
    await pages.button('Create collection').click();
    await page.getByText('No records yet').waitFor();
  });

  test('sees the first delivery verified by a receiver that the page gives', async () => {
    await pages.open('webhooks?new=1');
    const sheet = page.getByRole('dialog');
    await sheet.getByLabel('Name').fill('mirror');
    const url = `http://127.0.0.1:${await findFreePort()}/`;
    await sheet.getByLabel('URL').fill(url);
    await sheet.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('are now allowed').waitFor();
    await sheet.getByRole('textbox', { name: /^Events/ }).fill('tickets.*');
    await pages.button('Create webhook').click();
    await pages.button('Verify').click();
    await pages.button('Show').click();
    const command = await sheet
      .locator('code')
      .filter({ hasText: /^node -e .*whsec_[^…]+'/ })
      .textContent();
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
    const receiver = startChild('bash', ['-c', `exec ${command}`], { env: { ...process.env, PATH } });
    try {
      const forge = () => fetch(url, { method: 'POST', body: '{}', headers: { 'webhook-signature': 'v1,AAAA' } });
      await eventually('the receiver refuses what is not signed', async () => (await forge()).status === 401);
      await page.keyboard.press('Escape');
      await pages.button('Send test').click();
      await page.getByRole('dialog', { name: 'Delivery of webhooks.test' }).getByText('success').waitFor();
      await eventually('the receiver says so', () =>
        receiver.lines.some((line) => /^verified .*"test":true/.test(line)),
      );
    } finally {
      receiver.kill('SIGKILL');
      await receiver.exited;
    }
  });

  test('imports a spreadsheet, and sees which row is refused and why', async () => {
    await pages.open('collections/tickets/records?import=1');
    const sheet = page.getByRole('dialog');
    const file = { name: 'tickets.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) };
    await sheet.locator('input[type=file]').setInputFiles(file);
    await pages.button('Check file').click();
    await sheet.getByText('state: must be one of open, waiting, solved').waitFor();
    await pages.button('Import 2 rows').click();
    await sheet.getByText('Import finished').waitFor();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'Mouse dead' }).waitFor();
    await page.getByRole('cell', { name: 'Keyboard missing' }).waitFor();
  });

  test('finds records by a word, and by a condition', async () => {
    await pages.open('collections/tickets/records?filter=mouse');
    const [mouse, keyboard] = ['Mouse dead', 'Keyboard missing'].map((name) => page.getByRole('cell', { name }));
    assert.ok(mouse && keyboard);
    await mouse.waitFor();
    assert.equal(await keyboard.count(), 0);
    await pages.button('Clear').click();
    await keyboard.waitFor();
    await pages.button('Conditions').click();
    await page.getByLabel('Condition 1: field').selectOption('state');
    await page.getByLabel('Condition 1: value').selectOption('open');
    await pages.button('Apply').click();
    await mouse.waitFor({ state: 'detached' });
    await keyboard.waitFor();
  });

  test('lets a team see its records, and nobody else', async () => {
    await pages.open('users');
    await page.getByRole('link', { name: 'New collection for users' }).click();
    await pages.button('Create collection').click();
    await page.getByRole('heading', { name: 'users' }).waitFor();
    await createCollection('teams', 'name', []);
    await createCollection('memberships', 'role', [
      ['person', 'users'],
      ['team', 'teams'],
    ]);
    await pages.open('collections/tickets/settings');
    await pages.button('Add field').click();
    await page.keyboard.type('team');
    await page.getByLabel('Type of team').selectOption('relation');
    await page.getByRole('combobox', { name: 'Collection', exact: true }).last().selectOption('teams');
    await tab('Rules').click();
    await page.getByLabel('Set all rules').selectOption('Members (memberships) reads and writes');
    await pages.button('Save').click();
    await page.getByText('Saved tickets.').waitFor();

    const { admin } = pages;
    const [ada] = await Promise.all(
      ['ada', 'bob'].map((name) =>
        admin.create('users', { email: `${name}@example.org`, password: 'correct horse battery' }),
      ),
    );
    const team = textAt(await admin.create('teams', { name: 'Support' }), 'id');
    await admin.create('memberships', { person: textAt(ada, 'id'), team });
    const ticket = await idOf('tickets');
    await admin.patch(`/api/v1/tickets/${ticket}`, { team });
    const ticketsOf = async (name: string): Promise<unknown[]> => {
      const body = { email: `${name}@example.org`, password: 'correct horse battery' };
      const { json } = await pages.stack.guest.send('POST', '/api/v1/auth/users/login', { body });
      const headers = { Authorization: `Bearer ${textAt(json, 'data.token')}` };
      const answer = await (await fetch(`${pages.stack.url}/api/v1/tickets`, { headers })).json();
      return listAt(answer, 'data').map(({ id }) => id);
    };
    assert.deepEqual([await ticketsOf('ada'), await ticketsOf('bob')], [[ticket], []]);
  });

  test('sets the mail server, and gets a test mail', async () => {
    await pages.open('settings');
    await page.getByRole('main').getByRole('link', { name: 'Mail', exact: true }).click();
    await page.getByRole('switch', { name: 'Send mail' }).check();
    await page.getByLabel('Mail server', { exact: true }).fill('127.0.0.1');
    await page.getByLabel('Port', { exact: true }).fill(String(mails.port));
    await page.getByLabel('Sender', { exact: true }).fill('Acme <hello@example.com>');
    await page.getByRole('button', { name: /^Save \d changes$/ }).click();
    await page.getByText('settings saved.').waitFor();
    await page.getByLabel('To', { exact: true }).fill('me@example.com');
    await pages.button('Send').click();
    await mails.mailTo('me@example.com');
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
