import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { builtPages } from '../harness/browser/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser/browser.ts';
import { eventually } from '../harness/eventually.ts';
import { type Receiver, startReceiver } from '../harness/servers/receiver.ts';
import { repository, type Stack, startStack } from '../harness/stacks/stack.ts';

/** A picture that a person could have at hand. */
const picture = join(repository, 'docs/pictures/events.png');

const admin = { email: 'grace@example.com', password: 'correct horse battery' };

/** Lets webhooks reach the receiver on this machine, with the page's session. */
const allowReceiver = `(async () => {
  const { token } = JSON.parse(sessionStorage.getItem('recordbus-admin'));
  const headers = { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ 'hooks.http.allow': '127.0.0.1' });
  return (await fetch('/api/v1/admin/settings', { method: 'PATCH', headers, body })).status;
})()`;

/** Collects the browser's messages about policy violations and uncaught errors. */
function watch(page: Page): string[] {
  const said: string[] = [];
  page.on('pageerror', (error) => said.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) said.push(message.text());
  });
  return said;
}

describe('the first path through the admin pages', { skip: skipWithoutBrowser }, () => {
  let stack: Stack;
  let receiver: Receiver;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let said: string[];

  before(async () => {
    stack = await startStack({ topology: 'one', environment: { SERVICE_PAGES_DIR: await builtPages() } });
    receiver = await startReceiver();
    browser = await startBrowser();
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    page = await context.newPage();
    said = watch(page);
  });
  after(async () => {
    await browser?.close();
    await receiver?.[Symbol.asyncDispose]();
    await stack?.stop();
  });

  test('the printed link creates the first admin, and the token is removed from the address', async () => {
    // Each link only changes the fragment in the tab that is open already.
    await page.goto(`${stack.url}/_/`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    for (const token of ['an-old-link', String(stack.setupToken)]) {
      await page.goto(`${stack.url}/_/#setup=${token}`);
      await page.getByRole('heading', { name: 'Create the first admin' }).waitFor();
    }
    assert.equal(new URL(page.url()).hash, '');
    await page.getByLabel('Email').fill(admin.email);
    await page.getByLabel('Password').fill('short');
    await page.getByRole('button', { name: 'Create admin' }).click();
    await page.getByRole('alert').first().waitFor();
    await page.getByLabel('Password').fill(admin.password);
    await page.getByRole('button', { name: 'Create admin' }).click();
    await page.getByRole('heading', { name: 'Create your first collection' }).waitFor();
  });

  test('the list says what the server lets guests do', async () => {
    const token = await page.evaluate("JSON.parse(sessionStorage.getItem('recordbus-admin')).token");
    const closed = { update_rule: '', delete_rule: '', list_rule: '' };
    for (const [name, rule] of [
      ['open_by_rule', 'title = "x"'],
      ['closed', '@request.auth.id != ""'],
    ]) {
      const made = await fetch(`${stack.url}/api/v1/collections`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name, fields: [{ name: 'title', type: 'text' }], ...closed, create_rule: rule }),
      });
      assert.equal(made.status, 201);
    }
    const written = async (name: string) =>
      (
        await fetch(`${stack.url}/api/v1/${name}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"title":"x"}',
        })
      ).status;
    assert.deepEqual([await written('open_by_rule'), await written('closed')], [201, 403]);
    await page.reload();
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('open_by_rule').getByText('can create').waitFor();
    await row('closed').getByText('cannot write').waitFor();
    for (const name of ['open_by_rule', 'closed'])
      await fetch(`${stack.url}/api/v1/collections/${name}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${token}` },
      });
    await page.reload();
  });

  test("a collection is created, and a wrong rule's error is shown at its field", async () => {
    await page.getByRole('link', { name: 'New collection' }).first().click();
    await page.getByRole('heading', { name: 'New collection' }).waitFor();
    await page.keyboard.type('posts');
    assert.equal(await page.getByLabel('Name', { exact: false }).first().inputValue(), 'posts');
    await page.getByRole('textbox', { name: 'Field name' }).fill('title');
    await page.getByRole('button', { name: 'Add field' }).click();
    await page.keyboard.type('state');
    await page.getByRole('combobox', { name: 'Type of state' }).selectOption('select');
    await page.getByRole('textbox', { name: 'Values', exact: true }).fill('draft\nready');
    await page.getByRole('button', { name: 'Add field' }).click();
    await page.keyboard.type('photo');
    await page.getByRole('combobox', { name: 'Type of photo' }).selectOption('file');
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('combobox', { name: 'List: who can' }).selectOption('some');
    const rule = page.getByRole('textbox', { name: 'List' });
    await rule.click();
    await page.keyboard.type('titel = 3');
    await page.getByRole('button', { name: 'Create collection' }).click();
    await page.getByText('posts has no field "titel"').waitFor();
    assert.equal(await page.locator('.cm-wrong').textContent(), 't');
    await page.getByRole('combobox', { name: 'List: who can' }).selectOption('everyone');
    await page.getByRole('button', { name: 'Create collection' }).click();
    await page.getByText('Saved posts.').waitFor();
    await page.getByText('No records yet').waitFor();
    await page.goto(`${stack.url}/_/`);
    await page.getByRole('row', { name: /posts/ }).waitFor();
  });

  test('a record is created, changed and found', async () => {
    await page.getByRole('link', { name: 'posts' }).last().click();
    await page.getByRole('button', { name: 'New record' }).first().click();
    await page.getByRole('dialog').getByLabel('title').waitFor();
    await page.keyboard.type('<img src=x onerror=alert(1)>');
    await page.getByRole('dialog').getByLabel('photo').setInputFiles(picture);
    await page.getByRole('dialog').getByText('events.png').waitFor();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('cell', { name: '<img src=x onerror=alert(1)>' }).click();
    await page.getByRole('dialog').getByLabel('title').fill('Hello');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'Hello' }).waitFor();
    await page.getByRole('cell', { name: 'Hello' }).click();
    const widthOf = "document.querySelector('dialog img')?.naturalWidth ?? 0";
    await eventually('the picture is shown', async () => Number(await page.evaluate(widthOf)) > 100);
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Filter' }).click();
    await page.keyboard.type("title = 'none'");
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByText('No matching records').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('cell', { name: 'Hello' }).waitFor();
  });

  test('a webhook sends a test, and its delivery is shown and sent again', async () => {
    assert.equal(await page.evaluate(allowReceiver), 200);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('button', { name: 'New webhook' }).first().click();
    await page.getByLabel('Name').fill('mirror');
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByRole('heading', { name: 'mirror' }).waitFor();
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByRole('heading', { name: 'Delivery of webhooks.test' }).waitFor();
    await page.getByRole('dialog').getByText('success').waitFor();
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.getByRole('button', { name: 'Close', exact: true }).last().click();
    await eventually(
      'both deliveries are done',
      async () => (await page.getByRole('cell', { name: 'success' }).count()) === 2,
    );
    assert.equal(receiver.deliveries.length, 2);
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('button', { name: /^Replay \d+ events?$/ }).click();
    await page.getByText(/^Replaying \d+ events?/).waitFor();
    await receiver.received(3);
    await eventually('its delivery is in the list', async () => (await page.locator('tbody tr').count()) > 2);
    await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click();
    await page
      .getByRole('row', { name: /mirror/ })
      .getByText(/delivered/)
      .waitFor();
    await page.getByRole('link', { name: 'mirror' }).click();
    await page.getByRole('heading', { name: 'mirror' }).waitFor();
    await page.locator('tbody tr').nth(2).waitFor();
    await page.locator('tbody a[data-row]').first().focus();
    await page.keyboard.press('ArrowDown');
    const isSecond = 'document.activeElement === document.querySelectorAll("tbody a[data-row]")[1]';
    assert.equal(await page.evaluate(isSecond), true, 'arrows move between deliveries');
    const steps = page.getByRole('complementary', { name: 'First steps' });
    await steps.getByText('4 of 4').waitFor();
    await steps.getByRole('button', { name: 'Done' }).click();
    await steps.waitFor({ state: 'detached' });
  });

  test('a sign-out ends the session, and a sign-in returns to the same page', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Email').fill(admin.email);
    await page.getByLabel('Password').fill(admin.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'mirror' }).waitFor();
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(said, []));
});
