import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { builtPages } from '../harness/browser/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser/browser.ts';
import { type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { type Stack, startStack } from '../harness/stacks/stack.ts';
import { enter, openPage, signIn } from './watched-page.ts';

const password = 'a long enough password';

describe('people, rules and settings on the admin pages', { skip: skipWithoutBrowser }, () => {
  let stack: Stack;
  let admin: Client;
  let browser: Browser;
  let page: Page;
  let said: readonly string[];
  let ann: string;

  before(async () => {
    stack = await startStack({ topology: 'one', environment: { SERVICE_PAGES_DIR: await builtPages() } });
    admin = await stack.admin();
    await admin.post('/api/v1/collections', { name: 'people', type: 'auth', fields: [{ name: 'nick', type: 'text' }] });
    const fields = [
      { name: 'title', type: 'text' },
      { name: 'owner', type: 'relation', collection: 'people' },
    ];
    await admin.post('/api/v1/collections', {
      name: 'notes',
      fields,
      list_rule: 'owner = @request.auth.id',
      view_rule: '',
      create_rule: '',
      update_rule: '',
      delete_rule: '',
    });
    ann = textAt(
      await stack.guest.post('/api/v1/auth/people/register', { email: 'ann@example.com', password }),
      'record.id',
    );
    await admin.create('notes', { title: 'hers', owner: ann });
    await admin.create('notes', { title: 'nobody’s' });
    browser = await startBrowser();
    ({ page, said } = await openPage(browser));
    await signIn(page, stack.url);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });

  const open = (path: string) => page.goto(`${stack.url}/_/${path}`);
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });

  test('a rule is tried for a user, before it is saved', async () => {
    await open('collections/notes/settings?tab=rules');
    await button('Test rule: List').click();
    await page.getByLabel('Caller').selectOption('people');
    await page.getByLabel('User').fill('ann');
    await button(/ann@example\.com/).click();
    await button('Test').click();
    await page.getByText('This caller sees 1 record.').waitFor();
    await page.getByLabel('Caller').selectOption('');
    await button('Test').click();
    await page.getByText('This caller sees no records.').waitFor();
    await page.keyboard.press('Escape');
    await eventually(
      'the focus is back',
      async () => (await page.evaluate('document.activeElement.ariaLabel')) === 'Test rule: List',
    );
  });

  test('a sign-in rule is tried for an account', async () => {
    await open('collections/people/settings?tab=rules');
    await button('Test rule: Sign in').click();
    await page.getByRole('dialog').getByText('Every account').waitFor();
    await page.getByLabel('Account').fill('ann');
    await button(/ann@example\.com/).click();
    await button('Test').click();
    await page.getByText('Allowed.').waitFor();
    await page.keyboard.press('Escape');
  });

  test("a view's query is previewed, and its error is shown", async () => {
    await open('new-collection');
    await page.getByLabel('Type', { exact: true }).selectOption('view');
    await page.getByRole('textbox', { name: 'Query' }).click();
    await page.keyboard.type('select id, titel from notes');
    await button('Preview').click();
    await page.getByText(/column "titel" does not exist/).waitFor();
    await page.keyboard.press('Control+A');
    await page.getByRole('textbox', { name: 'Query' }).click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('select id, title from notes');
    await button('Preview').click();
    await page.getByRole('cell', { name: 'hers' }).waitFor();
  });

  test('a conflict between two admins is shown, and no input is lost', async () => {
    await open('collections/notes/settings');
    await page.getByRole('textbox', { name: 'Field name' }).first().fill('heading');
    const { json } = await admin.get('/api/v1/collections/notes');
    const fields = [...JSON.parse(textAt(json, 'data.fields')), { name: 'theirs', type: 'number' }];
    await admin.patch('/api/v1/collections/notes', { fields });
    await button('Save').click();
    await page.getByText('Another admin changed this collection while you were editing.').waitFor();
    await button('Show differences').click();
    await page.getByRole('row', { name: 'field theirs theirs: number missing' }).waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Field name' }).first().inputValue(), 'heading');
    await button('Overwrite').click();
    // The save would drop the other admin's field, so it has to be confirmed.
    await page.getByText(/deletes the values of theirs/).waitFor();
    await button('Cancel').click();
    await button('Save').click();
    await page.getByText(/deletes the values of theirs/).waitFor();
    await button('Cancel').click();
    await page.reload();
    await page.getByRole('textbox', { name: 'Field name' }).nth(2).waitFor();
  });

  test('a session that ends during an edit loses no input: a sign-in opens above the form, and the save continues', async () => {
    await open('collections/notes/records?new=1');
    await page.getByRole('dialog').getByLabel('title').fill('typed before the end');
    const { token } = JSON.parse(String(await page.evaluate("sessionStorage.getItem('recordbus-admin')")));
    await createClient(stack.url, token).send('POST', '/api/v1/admin/logout');
    await button('Create').click();
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await enter(page);
    await page.getByText('Record created.').waitFor();
    await page.getByRole('cell', { name: 'typed before the end' }).waitFor();
  });

  test('a user is found, and a session, the block and the address are changed', async () => {
    await open('users');
    await page.getByLabel('Search users').fill('ANN@');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'ann@example.com' }).click();
    await button(/^End the session from/).click();
    await page.getByText('No active sessions.').waitFor();
    await button('Mark as verified').click();
    await page.getByText('verified', { exact: true }).waitFor();
    await button('Block').click();
    await page.getByText(/^Blocked since/).waitFor();
    const refused = await stack.guest.send('POST', '/api/v1/auth/people/login', {
      body: { email: 'ann@example.com', password },
    });
    assert.equal(refused.status, 403);
    await button('Undo').last().click();
    await button('Block').waitFor();
  });

  test("a user's own fields are shown and edited, and a reset mail says what happened", async () => {
    await open(`users/people/${ann}`);
    const fields = page.getByRole('region', { name: 'Fields' });
    await fields.getByText('empty').waitFor();
    await button('Send reset mail').click();
    await page.getByText('Mail is not configured.').waitFor();
    await fields.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('nick').fill('Annie');
    await page.keyboard.press('Control+s');
    await page.getByText('Record saved.').waitFor();
    await fields.getByText('Annie').waitFor();
    await using server = await startMailServer();
    await admin.patch('/api/v1/admin/settings', server.settings);
    await button('Send reset mail').click();
    await page.getByText(/^Reset mail sent/).waitFor();
    assert.ok((await server.mailTo('ann@example.com')).token);
    const none = Object.fromEntries(Object.keys(server.settings).map((key) => [key, '']));
    await admin.patch('/api/v1/admin/settings', none);
  });

  test('acting as a user shows what the user sees, and ends with a click', async () => {
    await open(`users/people/${ann}`);
    await button('Act as this user').click();
    await page.getByText(/^You are acting as/).waitFor();
    await page.getByRole('link', { name: 'notes' }).click();
    await page.getByRole('cell', { name: 'hers' }).waitFor();
    assert.equal(await page.getByRole('cell', { name: 'nobody’s' }).count(), 0);
    await button('Stop acting').click();
    await page.getByRole('cell', { name: 'nobody’s' }).waitFor();
    await page.getByRole('link', { name: 'Admins' }).click();
    await page.getByText('this session').waitFor();
  });

  test('a key is created with scopes, shown once, narrowed and revoked', async () => {
    await open('keys?new=1');
    await page.getByLabel('Name').fill('<b>ci</b>');
    await page.getByLabel('Read: all collections').check();
    await page.getByLabel('Delete: all collections').check();
    await page.getByLabel('Networks').fill('127.0.0.0/8\nnowhere');
    await button('Create key').click();
    await page.getByText(/must be an address or a CIDR range/).waitFor();
    await page.getByLabel('Networks').fill('127.0.0.0/8');
    await button('Create key').click();
    const text = String(
      await page
        .getByRole('dialog')
        .getByText(/^rbk_[^…]+$/)
        .textContent(),
    );
    assert.equal((await createClient(stack.url, text).get('/api/v1/notes')).status, 200);
    await button('I copied the key').click();
    assert.doesNotMatch(await page.content(), new RegExp(text));
    await button('Edit <b>ci</b>').click();
    await page.getByLabel('Read: all collections').uncheck();
    await button('Save').click();
    await page.getByText(/^Saved <b>ci/).waitFor();
    await eventually(
      'the key may not read',
      async () => (await createClient(stack.url, text).get('/api/v1/notes')).status === 403,
    );
    await button('Revoke <b>ci</b>').click();
    await page.getByLabel(/^Type/).fill('<b>ci</b>');
    await button('Revoke key').click();
    await page.getByText('No service keys yet').waitFor();
  });

  test("an admin is created and deleted, and changing one's own password needs no new sign-in", async () => {
    await open('admins?new=1');
    await page.getByLabel('Email').fill('eve@example.com');
    await button('Generate').click();
    await button('Create admin').click();
    await button('Delete eve@example.com').click();
    await page.getByLabel(/^Type/).fill('eve@example.com');
    await button('Delete admin').click();
    await page.getByText('eve@example.com is no longer an admin.').waitFor();
    await button('Edit ada@example.com').click();
    await page.getByLabel('New password').fill('another horse battery staple');
    await button('Save').click();
    await page.getByText('ada@example.com updated.').waitFor();
    await page.getByText('this session').waitFor();
  });

  test('settings are changed, errors are shown at their field, and a secret is never shown', async () => {
    await open('settings/Mail');
    await page.getByLabel('Port', { exact: true }).fill('none');
    await page.getByLabel('Password', { exact: true }).fill('hidden words');
    await button('Save 2 changes').click();
    await page.getByText('must be a whole number from 1 to 65535').waitFor();
    await page.getByLabel('Port', { exact: true }).fill('2525');
    await button('Save 2 changes').click();
    await page.getByText('2 settings saved.').waitFor();
    assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), '');
    const client = await stackAdminAfter(stack);
    const stored = (await client.get('/api/v1/admin/settings')).json as { data: Record<string, string> };
    assert.deepEqual([stored.data['smtp.port'], stored.data['smtp.pass']], ['2525', 'hidden words']);
    await button('Send').click();
    await page.getByText(/^Mail is not configured/).waitFor();
    await button('Remove Password').click();
    await button('Reset Port').click();
    await button('Save 2 changes').click();
    await eventually('both are gone', async () => {
      const { data } = (await client.get('/api/v1/admin/settings/groups')).json as {
        data: readonly { settings: readonly { key: string; is_set: boolean }[] }[];
      };
      return (
        data.flatMap(({ settings }) => settings).filter(({ key, is_set }) => is_set && key.startsWith('smtp.'))
          .length === 0
      );
    });
  });

  test('everything can be reached with the keyboard, and a dialog keeps the focus', async () => {
    await open('keys');
    await page.getByText('No service keys yet').waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to content');
    await page.getByRole('button', { name: 'New key' }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    const isWithin =
      'document.activeElement === document.body || document.querySelector("dialog").contains(document.activeElement)';
    for (let step = 0; step < 40; step += 1) {
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate(isWithin), true, `step ${step}`);
    }
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.match(String(await page.evaluate('document.activeElement.textContent')), /New key/);
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(said, []));
});

/** The first admin has a new password by now. */
async function stackAdminAfter(stack: Stack): Promise<Client> {
  const body = { email: 'ada@example.com', password: 'another horse battery staple' };
  const { json } = await stack.guest.send('POST', '/api/v1/admin/login', { body });
  return createClient(stack.url, textAt(json, 'data.token'));
}
