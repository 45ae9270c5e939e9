import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { builtPages } from '../harness/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser.ts';
import { textAt } from '../harness/json.ts';
import { hostile, look, openPage, type Screen, signIn } from '../harness/pages-browser.ts';
import { type Stack, startStack } from '../harness/stack.ts';

/** A text as long as a value may be. */
const long = 'x'.repeat(1_000_000);

/** Fills the stack with what strangers may have written, and returns every screen that shows it. */
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
    { name: 'users', path: '/_/users', shows: 'not verified' },
    { name: 'user', path: `/_/users/people/${id}`, shows: 'Ways in' },
    { name: 'admins', path: '/_/admins', shows: 'this one' },
    { name: 'new-admin', path: '/_/admins?new=1', shows: 'Generate' },
    { name: 'keys', path: '/_/keys', shows: '192.0.2.0' },
    { name: 'new-key', path: '/_/keys?new=1', shows: 'Everything else' },
    { name: 'settings', path: '/_/settings/Mail%20(SMTP)', shows: 'smtp.from' },
    { name: 'settings-theme', path: '/_/settings/Theme', shows: 'theme.accent' },
    {
      name: 'settings-providers',
      path: '/_/settings/OAuth2%20providers',
      shows: 'oauth2.google',
      opens: (page) => page.getByText('oauth2.google', { exact: true }).click(),
    },
    {
      name: 'field-options',
      path: '/_/collections/kinds/settings',
      shows: 'Add index',
      async opens(page) {
        for (const type of kinds) await page.getByRole('button', { name: `Options of a_${type}` }).click();
      },
    },
    {
      name: 'who-may',
      path: '/_/collections/kinds/settings',
      shows: 'Add index',
      async opens(page) {
        await page.getByRole('button', { name: 'Who may list?' }).click();
        await page.getByRole('button', { name: 'Try', exact: true }).click();
        await page.getByText('The list is empty for this caller.').waitFor();
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
});
