import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { builtPages } from '../harness/browser/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser/browser.ts';
import { textAt } from '../harness/json.ts';
import { totpCode, wrongTotpCode } from '../harness/sign-in/totp.ts';
import { type Stack, startStack } from '../harness/stacks/stack.ts';
import { hostile } from './hostile-text.ts';
import { missedByTab } from './keyboard-walk.ts';
import { look, openScreen, type Screen } from './look.ts';
import { openPage, signIn } from './watched-page.ts';

/** As long as a value may be. */
const long = 'x'.repeat(1_000_000);

/** Fills the stack with hostile texts, and returns every screen that shows them. */
async function fill(stack: Stack): Promise<readonly Screen[]> {
  const admin = await stack.admin();
  const fields = [{ name: 'nick', type: 'text' }];
  await admin.post('/api/v1/collections', { name: 'people', type: 'auth', fields });
  const users = '/api/v1/auth/people/register';
  const email = `"><script>alert(1)</script>@example.com`;
  const kept = await stack.guest.send('POST', users, { body: { email, password: 'a long enough password' } });
  const known =
    kept.status === 201
      ? kept
      : await stack.guest.send('POST', users, {
          body: { email: 'o\u2019hara@example.com', password: 'a long enough password' },
        });
  const id = textAt(known.json, 'data.record.id');
  const agent = { 'User-Agent': `<img src=x onerror=alert(1)> javascript:alert(2) ${'y'.repeat(400)}` };
  const credentials = { email: textAt(known.json, 'data.record.email'), password: 'a long enough password' };
  await stack.guest.send('POST', '/api/v1/auth/people/login', { body: credentials, headers: agent });
  await admin.patch(`/api/v1/records/people/${id}`, { nick: long });
  const scopes = ['records:people:read', 'rules:*', 'files', 'logs:read'];
  await admin.post('/api/v1/admin/keys', { name: hostile, scopes, allowed_cidrs: ['192.0.2.0/24'] });
  const texts = {
    'app.url': 'https://example.com/',
    'smtp.pass': 'the secret of the mail',
    'theme.accent': '#0a7d5c',
    'realtime.channels': JSON.stringify([
      { pattern: hostile, publish_rule: '@request.auth.id != null', subscribe_rule: '' },
    ]),
    'email.verify.body': `{{link}} ${hostile}\n${hostile.repeat(900)}`,
  };
  await admin.patch('/api/v1/admin/settings', texts);
  const kinds = ['text', 'number', 'select', 'relation', 'file', 'editor', 'email', 'url', 'password', 'vector'];
  const options: Readonly<Record<string, object>> = { select: { values: ['a', hostile] }, vector: { dimensions: 3 } };
  const every = kinds.map((type) => ({
    name: `a_${type}`,
    type,
    ...(options[type] && { options: options[type] }),
    ...(type === 'relation' && { collection: 'people' }),
  }));
  await admin.post('/api/v1/collections', { name: 'kinds', fields: every, list_rule: 'a_text = @request.auth.nick' });
  return [
    { name: 'users', path: '/_/users', shows: 'unverified' },
    { name: 'user', path: `/_/users/people/${id}`, shows: 'Providers' },
    { name: 'admins', path: '/_/admins', shows: 'this session' },
    { name: 'new-admin', path: '/_/admins?new=1', shows: 'Generate' },
    { name: 'keys', path: '/_/keys', shows: 'rbk_' },
    { name: 'new-key', path: '/_/keys?new=1', shows: 'Other scopes' },
    { name: 'settings', path: '/_/settings', shows: 'Address of your app' },
    { name: 'settings-mail', path: '/_/settings/Mail', shows: 'smtp.from' },
    { name: 'settings-limits', path: '/_/settings/Limits', shows: 'rate_limit.rules' },
    { name: 'settings-channels', path: '/_/settings/Channels', shows: 'Who may receive them' },
    { name: 'settings-appearance', path: '/_/settings/Appearance', shows: 'theme.accent' },
    {
      name: 'settings-providers',
      path: '/_/settings/Providers',
      shows: 'Google',
      opens: (page) => page.getByText('Google', { exact: true }).click(),
    },
    {
      name: 'field-options',
      path: '/_/collections/kinds/settings',
      shows: 'Add field',
      async opens(page) {
        for (const type of kinds) await page.getByRole('button', { name: `Options of a_${type}` }).click();
      },
    },
    {
      name: 'test-rule',
      path: '/_/collections/kinds/settings?tab=rules',
      shows: 'Who can do what.',
      async opens(page) {
        await page.getByRole('button', { name: 'Test rule: List' }).click();
        await page.getByRole('button', { name: 'Test', exact: true }).click();
        await page.getByText('This caller sees no records.').waitFor();
      },
    },
  ];
}

describe('the screens about people and settings', { skip: skipWithoutBrowser }, () => {
  let stack: Stack;
  let browser: Browser;
  let screens: readonly Screen[];

  before(async () => {
    stack = await startStack({ topology: 'one', environment: { SERVICE_PAGES_DIR: await builtPages() } });
    screens = await fill(stack);
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });

  test('no serious finding, nothing forbidden, nothing beyond the window, and no secret', async () => {
    const { page, said } = await openPage(browser);
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => dialogs.push(dialog.message()));
    await signIn(page, stack.url);
    for (const screen of screens) {
      await look(page, stack.url, screen);
      assert.doesNotMatch(await page.content(), /the secret of the mail/);
    }
    assert.deepEqual([said, dialogs], [[], []]);
  });

  test('the keyboard reaches every control, and the focus is visible', async () => {
    const { page } = await openPage(browser);
    await signIn(page, stack.url);
    for (const screen of screens) {
      await openScreen(page, stack.url, screen);
      assert.deepEqual(await missedByTab(page), [], screen.name);
    }
  });

  test('an admin sets up a second factor, signs in with it, and switches it off', async () => {
    const { page, said } = await openPage(browser);
    const me = { email: 'bea@example.com', password: 'another long enough password' };
    await (await stack.admin()).post('/api/v1/admin/admins', me);
    const enter = async () => {
      await page.goto(`${stack.url}/_/admins`);
      await page.getByLabel('Email').fill(me.email);
      await page.getByLabel('Password').fill(me.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    };
    await enter();
    await page.getByRole('button', { name: 'Set up' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your password').fill('wrong');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByText('is wrong', { exact: true }).waitFor();
    await dialog.getByLabel('Your password').fill(me.password);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    const secret = String(await dialog.locator('code').textContent()).replaceAll(' ', '');
    await dialog.getByLabel('Code from your app').fill(totpCode(secret));
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await dialog.getByRole('listitem').nth(9).waitFor();
    const recovery = String(await dialog.getByRole('listitem').first().textContent());
    await dialog.getByRole('button', { name: 'I saved the codes' }).click();
    await page.getByText('10 of 10 recovery codes left').waitFor();

    await page.evaluate('sessionStorage.clear()');
    await enter();
    await page.getByLabel('Code').fill(wrongTotpCode(secret));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('the code is wrong or was used already').waitFor();
    await page.getByLabel('Code').fill(recovery);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('9 of 10 recovery codes left').waitFor();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await dialog.getByLabel('Your password').fill(me.password);
    await dialog.getByLabel('Code from your app').fill(totpCode(secret, 1));
    await dialog.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('in addition to your password').waitFor();
    assert.deepEqual(said, []);
  });
});
