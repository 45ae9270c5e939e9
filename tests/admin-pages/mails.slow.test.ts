import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { builtPages } from '../harness/browser/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser/browser.ts';
import { eventually } from '../harness/eventually.ts';
import { numberAt, textAt } from '../harness/json.ts';
import { type MailServer, startMailServer } from '../harness/servers/mail-server.ts';
import { type Stack, startStack } from '../harness/stacks/stack.ts';
import { missedByTab } from './keyboard-walk.ts';
import { look } from './look.ts';
import { openSignedIn } from './watched-page.ts';

const password = 'a long enough password';
const sentTo = 'ada@example.com';
const refusedTo = 'refused@example.com';
const busyTo = 'busy@example.com';

describe('mails on the admin pages', { skip: skipWithoutBrowser }, () => {
  let stack: Stack;
  let server: MailServer;
  let browser: Browser;
  let page: Page;
  let said: readonly string[];

  before(async () => {
    server = await startMailServer();
    stack = await startStack({ topology: 'one', environment: { SERVICE_PAGES_DIR: await builtPages() } });
    const admin = await stack.admin();
    await admin.patch('/api/v1/admin/settings', server.settings);
    await admin.post('/api/v1/collections', { name: 'readers', type: 'auth', create_rule: null });
    await eventually('mail is configured', async () => {
      const body = { to: 'probe@example.com' };
      return (await admin.send('POST', '/api/v1/admin/settings/test-email', { body })).status === 200;
    });
    for (const email of [sentTo, refusedTo])
      await stack.guest.post('/api/v1/auth/readers/register', { email, password });
    await eventually('both mails have ended', async () => {
      const states = ['sent', 'dead'].map(async (state) =>
        numberAt((await admin.get(`/api/v1/admin/mails?state=${state}`)).json, 'totalItems'),
      );
      return (await Promise.all(states)).every((count) => count > 0);
    });
    browser = await startBrowser();
    ({ page, said } = await openSignedIn(browser, stack.url, {
      viewport: { width: 1280, height: 900 },
      reducedMotion: 'reduce',
    }));
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
    await server?.[Symbol.asyncDispose]();
  });
  const row = (address: string) => page.locator('tbody tr', { hasText: address });

  test('the navigation and the palette lead to the mails', async () => {
    await page.goto(`${stack.url}/_/health`);
    await page.getByRole('link', { name: 'Mails' }).click();
    await row(sentTo).waitFor();
    await page.goto(`${stack.url}/_/health`);
    await page.getByRole('heading', { name: 'Health' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('smtp');
    await page.getByRole('option', { name: 'Mails' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/_/mails');
    await row(refusedTo).waitFor();
  });

  test('mails are found by state, by address and by template', async () => {
    await page.goto(`${stack.url}/_/mails`);
    await row(sentTo).waitFor();
    await page.getByLabel('State').selectOption('dead');
    await row(sentTo).waitFor({ state: 'detached' });
    await row(refusedTo).waitFor();
    await page.getByLabel('State').selectOption('');
    await page.getByLabel('To').fill(sentTo.toUpperCase());
    await page.keyboard.press('Enter');
    await row(refusedTo).waitFor({ state: 'detached' });
    await row(sentTo).waitFor();
    await page.getByLabel('Template').fill('verify');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/_/mails?*template=verify*');
    await row(sentTo).waitFor();
    await page.getByLabel('Template').fill('none-is-called-so');
    await page.keyboard.press('Enter');
    await page.getByText('No such mails').waitFor();
    // The address keeps the filters.
    await page.reload();
    await page.getByText('No such mails').waitFor();
    assert.equal(await page.getByLabel('To').inputValue(), sentTo.toUpperCase());
  });

  test("a mail shows the server's words and its record, never what it says", async () => {
    await page.goto(`${stack.url}/_/mails?state=dead`);
    await row(refusedTo).getByRole('button').focus();
    await page.keyboard.press('Enter');
    const sheet = page.getByRole('dialog');
    await sheet.getByText('550 no such user here').first().waitFor();
    await sheet.getByText('verify', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    const { token } = await server.mailTo(sentTo);
    await page.goto(`${stack.url}/_/mails?to=${sentTo}`);
    await row(sentTo).getByRole('button').first().click();
    await sheet.getByText('verify', { exact: true }).waitFor();
    assert.ok(token);
    assert.ok(!(await page.content()).includes(token));
  });

  test('a waiting mail is sent at once, and shows each attempt', async () => {
    await stack.guest.post('/api/v1/auth/readers/register', { email: busyTo, password });
    await page.goto(`${stack.url}/_/mails?to=${busyTo}`);
    await row(busyTo).getByRole('button').click();
    const sheet = page.getByRole('dialog');
    const attempts = sheet.getByRole('listitem');
    await attempts.getByText('451 try again later').first().waitFor();
    const before = await attempts.count();
    await eventually('another attempt', async () => {
      await sheet.getByRole('button', { name: 'Send now' }).click();
      return (await attempts.count()) > before;
    });
    await sheet.getByText('Next attempt').waitFor();
    await page.goto(`${stack.url}/_/mails?to=${sentTo}`);
    await row(sentTo).getByRole('button').first().click();
    await attempts.getByText('accepted').waitFor();
    assert.equal(await sheet.getByRole('button', { name: 'Send now' }).count(), 0);
  });

  test('a mail leads to its record and to the mails about it, and so does a user', async () => {
    const { json } = await (await stack.admin()).get(`/api/v1/admin/mails?to=${refusedTo}`);
    const account = textAt(json, 'data.0.record_id');
    await page.goto(`${stack.url}/_/mails?state=dead`);
    await row(refusedTo).getByRole('button').click();
    const sheet = page.getByRole('dialog');
    await sheet.getByRole('button', { name: 'All mails about it' }).click();
    await sheet.waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('record'), account);
    await page.getByRole('button', { name: 'All records' }).waitFor();
    await row(refusedTo).getByRole('button').click();
    await sheet.getByRole('link', { name: account }).click();
    await sheet.getByText('Edit record in readers').waitFor();
    await page.goto(`${stack.url}/_/users/readers/${account}`);
    await page.locator('#content').getByRole('link', { name: 'Mails', exact: true }).click();
    await row(refusedTo).waitFor();
    assert.equal(await row(sentTo).count(), 0);
  });

  test('the list and an opened mail are readable, fit a phone, and are used by the keyboard', async () => {
    const list = { name: 'mails-with-rows', path: '/_/mails?state=dead', shows: refusedTo };
    const opens = async () => {
      await row(refusedTo).getByRole('button').click();
      await page.getByRole('dialog').getByText('550 no such user here').first().waitFor();
    };
    for (const screen of [list, { ...list, name: 'mail', opens }]) {
      await look(page, stack.url, screen);
      assert.deepEqual(await missedByTab(page), [], screen.name);
    }
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(said, []));
});
