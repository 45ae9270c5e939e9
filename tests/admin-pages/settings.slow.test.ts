import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import type { Client } from '../harness/clients/client.ts';
import { type OpenPages, openPages } from './open-pages.ts';

describe('settings with controls and units', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let page: Page;
  let admin: Client;

  before(async () => {
    pages = await openPages(async (client) => {
      await client.post('/api/v1/collections', { name: 'people', type: 'auth', fields: [] });
    });
    ({ page, admin } = pages);
  });
  after(() => pages?.[Symbol.asyncDispose]());

  const field = (name: string) => page.getByLabel(name, { exact: true });
  const stored = async (key: string): Promise<unknown> =>
    ((await admin.get('/api/v1/admin/settings')).json as { data: Record<string, unknown> }).data[key];
  const save = async (text: string): Promise<void> => {
    await page.getByRole('button', { name: /^Save/ }).click();
    await page.getByText(text).last().waitFor();
  };

  test('General is the first page, and a search finds pages by label and by key', async () => {
    await pages.open('settings');
    await page.getByRole('heading', { name: 'General' }).waitFor();
    const links = page.getByRole('navigation', { name: 'Settings sections' }).getByRole('link');
    assert.equal((await links.allTextContents())[0]?.trim(), 'General');
    for (const [text, name] of [
      ['sender', 'Mail'],
      ['rate_limit.rules', 'Limits'],
      ['leaked', 'Passwords'],
    ] as const) {
      await page.getByLabel('Search settings').fill(text);
      assert.deepEqual(
        (await links.allTextContents()).map((one) => one.trim()),
        [name],
        text,
      );
    }
  });

  test('a time is set with its unit, and one outside its bounds is refused at its field', async () => {
    await pages.open('settings/Sessions');
    await field('Users').waitFor();
    assert.deepEqual([await field('Users').inputValue(), await field('Users: unit').inputValue()], ['7', '86400']);
    await field('Users').fill('0.5');
    await field('Users: unit').selectOption('minutes');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Must be from 1 minute to 365 days.').waitFor();
    assert.equal(await page.evaluate("document.activeElement.getAttribute('aria-invalid')"), 'true');
    assert.equal(await stored('auth.user.window_seconds'), '604800');
    await field('Users').fill('1.5');
    await field('Users: unit').selectOption('hours');
    await page.getByText('Must be from 1 minute to 365 days.').waitFor({ state: 'detached' });
    await save('Setting saved.');
    assert.equal(await stored('auth.user.window_seconds'), '5400');
    await page.getByRole('button', { name: 'Reset Users' }).click();
    assert.equal(await field('Users').inputValue(), '7');
  });

  test('a switch, a choice, and lists with one entry in each line', async () => {
    await pages.open('settings/Sign-in');
    await page.getByRole('switch', { name: 'Mailed codes' }).check();
    await field('Sign-up in people').selectOption('Only admins create accounts');
    await save('2 settings saved.');
    assert.deepEqual([await stored('auth.otp.enabled'), await stored('auth.sign_up.people')], ['1', 'closed']);
    await pages.open('settings/Browsers%20and%20proxies');
    await field('Websites that may call the API').fill('https://a.example.com\n\nhttps://b.example.com\n');
    await save('Setting saved.');
    assert.equal(await stored('cors.origins'), 'https://a.example.com,https://b.example.com');
  });

  test('rate limits are a table, and the server names a wrong row', async () => {
    await pages.open('settings/Limits');
    await page.getByRole('button', { name: 'Add rule' }).click();
    await field('Rule 4: path').fill('/api/v1/people');
    await field('Rule 4: requests').selectOption('Lists');
    await field('Rule 4: callers').selectOption('Guests');
    await field('Rule 4: at most').fill('many');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(/rule 4: max must be a whole number/).waitFor();
    assert.equal(await field('Rule 4: path').getAttribute('aria-invalid'), 'true');
    await field('Rule 4: at most').fill('50');
    await field('Rule 4: seconds').fill('1.5');
    await save('Setting saved.');
    const rules = JSON.parse(String(await stored('rate_limit.rules')));
    assert.deepEqual(rules[3], { label: '/api/v1/people:list', max: 50, windowMs: 1500, audience: 'guest' });
    assert.equal(rules.length, 4);
  });

  test('a channel has rules in words, and one that is not written is never saved as another', async () => {
    await pages.open('settings/Channels');
    await page.getByRole('button', { name: 'Add channel' }).click();
    await field('Channel 1').fill('room-*');
    await field('Channel 1: send: who can').selectOption('Custom rule');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Write each custom rule, or choose who can.').waitFor();
    assert.equal(await stored('realtime.channels'), '[]');
    await page.getByRole('textbox', { name: 'Channel 1: send' }).fill('@request.auth.id != null');
    await field('Channel 1: follow: who can').selectOption({ index: 1 });
    await save('Setting saved.');
    assert.deepEqual(JSON.parse(String(await stored('realtime.channels'))), [
      { pattern: 'room-*', publish_rule: '@request.auth.id != null', subscribe_rule: null },
    ]);
  });

  test('a provider says what to paste where, and an OpenID provider gets a name', async () => {
    await pages.open('settings/Providers');
    await page.getByText('GitHub', { exact: true }).click();
    await page.getByText(/"Authorization callback URL"/).waitFor();
    await field('Add an OpenID Connect provider').fill('acme');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await field('acme: client ID').fill('id');
    await field('acme: issuer').fill('nowhere');
    await page.getByRole('button', { name: 'Save 2 changes' }).click();
    await page.getByText('Check acme: issuer.').waitFor();
    await field('acme: issuer').fill('https://id.example.com');
    await save('2 settings saved.');
    assert.equal(await stored('oauth2.providers.oidc.acme.issuer'), 'https://id.example.com');
    await page.getByText('acme', { exact: true }).waitFor();
  });

  test("the mails' texts get a language", async () => {
    await pages.open('settings/Mail texts');
    await field('Add a language').fill('German');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('must be a language, such as de, de-AT or zh-Hant').waitFor();
    await field('Add a language').fill('de-AT');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Verification', { exact: true }).click();
    await field('Verification: subject in de-AT').fill('Servus');
    await field('Verification: text in de-AT').fill('{{nothing}}');
    await page.getByRole('button', { name: 'Save 2 changes' }).click();
    await page.getByText('Check Verification: text in de-AT.').waitFor();
    await field('Verification: text in de-AT').fill('Hallo {{email}}: {{link}}');
    await save('2 settings saved.');
    assert.equal(await stored('email.verify.subject.de-AT'), 'Servus');
    assert.equal(await field('Verification: text in de-AT').inputValue(), 'Hallo {{email}}: {{link}}');
  });

  test('a blocked delivery is explained where networks are blocked', async () => {
    await pages.open('settings/Webhooks');
    await page.getByText('Where requests may go').click();
    await field('Allowed in spite of that').fill('127.0.0.0/8');
    await save('Setting saved.');
    assert.equal(await stored('hooks.http.allow'), '127.0.0.0/8');
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
