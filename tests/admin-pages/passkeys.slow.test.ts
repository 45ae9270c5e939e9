import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { addVirtualAuthenticator, type VirtualAuthenticator } from '../harness/sign-in/virtual-authenticator.ts';
import { firstAdmin } from '../harness/stacks/stack.ts';
import { look } from './look.ts';
import { type OpenPages, openPages } from './open-pages.ts';
import { enter } from './watched-page.ts';

/** Lets the browser suggest passkeys only when a test says so: DevTools' authenticator would answer before a click. */
const suggestsWhenAsked = `
  const { isConditionalMediationAvailable } = PublicKeyCredential;
  PublicKeyCredential.isConditionalMediationAvailable = async () =>
    localStorage.getItem('suggests') !== null && isConditionalMediationAvailable.call(PublicKeyCredential);
`;

const routes = '/api/v1/admin/passkeys';

describe('passkeys on the admin pages', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let authenticator: VirtualAuthenticator;

  before(async () => {
    pages = await openPages(async () => {}, 'localhost');
    await pages.page.addInitScript(suggestsWhenAsked);
    authenticator = await addVirtualAuthenticator(pages.page);
  });
  after(() => pages?.[Symbol.asyncDispose]());

  const own = () => pages.page.getByRole('region', { name: 'Your passkeys' });
  const atHome = () => own().waitFor();
  const names = async () => listAt((await pages.admin.get(routes)).json, 'data').map(({ name }) => name);

  /** Opens the sign-in form, where the authenticator's user does nothing yet. */
  async function signOut(waiting: VirtualAuthenticator): Promise<void> {
    await waiting.touches(false);
    await pages.open('admins');
    await atHome();
    await pages.button('Sign out').click();
    await pages.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  }

  async function add(name: string): Promise<void> {
    const { page, button } = pages;
    await button('Add passkey').click();
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByLabel('Your password').fill(firstAdmin.password);
    await button('Continue').click();
  }

  test('an admin adds one with the password, and a wrong password is said at its field', async () => {
    const { page, open, button } = pages;
    await open('admins');
    await page.getByText('No passkeys yet.').waitFor();
    await authenticator.touches(true);
    await button('Add passkey').click();
    assert.match(await page.getByRole('textbox', { name: 'Name' }).inputValue(), /^Chrome on /);
    await page.getByLabel('Your password').fill('wrong');
    await button('Continue').click();
    await page.getByRole('alert').first().waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Laptop');
    await page.getByLabel('Your password').fill(firstAdmin.password);
    await button('Continue').click();
    await page.getByText('Added Laptop. It signs you in from now on.').waitFor();
    await own().getByText('never used').waitFor();
    assert.deepEqual(await names(), ['Laptop']);
    const [key] = await authenticator.keys();
    assert.equal(key?.isResidentCredential, true);
  });

  test('the same device is not added twice, and the page says so', async () => {
    const { page, button } = pages;
    await add('Laptop again');
    await page.getByText('This device has a passkey for your account already.').waitFor();
    await button('Cancel').click();
    assert.deepEqual(await names(), ['Laptop']);
  });

  test('its button signs in without an address, and the use is shown', async () => {
    const { button } = pages;
    await signOut(authenticator);
    await authenticator.touches(true);
    await button('Sign in with a passkey').click();
    await atHome();
    await own().getByText('last used').waitFor();
  });

  test('the address field suggests it', async () => {
    const { page } = pages;
    await signOut(authenticator);
    await page.evaluate("localStorage.setItem('suggests', '')");
    assert.equal(await page.getByLabel('Email').getAttribute('autocomplete'), 'username webauthn');
    // DevTools' authenticator then picks the suggestion, as soon as the form is there.
    await authenticator.touches(true);
    await page.reload();
    await atHome();
  });

  test('the password signs in while a suggestion waits', async () => {
    const { page } = pages;
    await signOut(authenticator);
    const answered = page.waitForResponse((response) => response.url().endsWith(`${routes}/login/options`));
    await page.reload();
    await answered;
    await enter(page);
    await atHome();
    await page.evaluate("localStorage.removeItem('suggests')");
  });

  test('a session that ended continues by passkey, with the input', async () => {
    const { page, stack, button, open } = pages;
    await open('admins?new=1');
    await page.getByRole('dialog').getByLabel('Email').fill('half@example.com');
    const token = await page.evaluate("JSON.parse(sessionStorage.getItem('recordbus-admin')).token");
    const session = createClient(stack.url, String(token));
    await session.send('POST', '/api/v1/admin/logout');
    await eventually('the session is over', async () => (await session.get('/api/v1/admin/me')).status === 401);
    await page.getByRole('dialog').getByLabel('Password').fill('correct horse battery staple');
    await authenticator.touches(true);
    await button('Create admin').click();
    await button('Sign in with a passkey').click();
    await page.getByText('half@example.com is now an admin.').waitFor();
    await authenticator.touches(false);
  });

  test('one without user verification asks for the code of the app', async () => {
    const { page, admin, button } = pages;
    const proof = { old_password: firstAdmin.password };
    const secret = textAt(await admin.post('/api/v1/admin/totp/setup', proof, 200), 'secret');
    await admin.post('/api/v1/admin/totp/confirm', { code: totpCode(secret) }, 200);
    await authenticator.forges({ isUnverified: true });
    await signOut(authenticator);
    await authenticator.touches(true);
    await button('Sign in with a passkey').click();
    await page.getByLabel('Code').fill(totpCode(secret, 1));
    await button('Sign in').click();
    await atHome();
    await authenticator.forges({});
    // A passkey with user verification is both factors.
    await signOut(authenticator);
    await authenticator.touches(true);
    await button('Sign in with a passkey').click();
    await atHome();
  });

  test('the list and the sheet are sound in both themes and at both widths', async () => {
    const { page, url } = pages;
    const list = { name: 'passkeys', path: '/_/admins', shows: 'Laptop' };
    await look(page, url, list);
    await look(page, url, { ...list, name: 'add-passkey', opens: () => pages.button('Add passkey').click() });
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('it is renamed, and removed with the password; then the server does not know it', async () => {
    const { page, button } = pages;
    await button('Rename Laptop').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Old laptop');
    await button('Save').click();
    await page.getByText('Renamed to Old laptop.').waitFor();
    await own().getByText('Old laptop').waitFor();
    await button('Remove Old laptop').click();
    await page.getByLabel('Your password').fill('wrong');
    await button('Remove passkey').click();
    await page.getByRole('alert').first().waitFor();
    await page.getByLabel('Your password').fill(firstAdmin.password);
    await button('Remove passkey').click();
    await page.getByText('Removed Old laptop.').waitFor();
    assert.deepEqual(await names(), []);
    await signOut(authenticator);
    await authenticator.touches(true);
    await button('Sign in with a passkey').click();
    await page.getByText('The server does not know this passkey').waitFor();
    await authenticator.touches(false);
  });

  test('the pages say why a passkey of another domain cannot be used', async () => {
    const { page, admin, stack, button } = pages;
    const options = async () => stack.guest.send('POST', `${routes}/login/options`, { body: {} });
    const isHidden = async () => {
      await page.reload();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await button('Sign in with a passkey').waitFor({ state: 'detached' });
    };
    await admin.patch('/api/v1/admin/settings', { 'auth.passkeys.rp_id': 'elsewhere.example' });
    await eventually(
      'the domain applies',
      async () => at((await options()).json, 'data.options.rpId') === 'elsewhere.example',
    );
    await page.reload();
    await button('Sign in with a passkey').click();
    await page.getByText('The settings name another domain for passkeys, and these pages are at localhost.').waitFor();
    await page.evaluate("localStorage.setItem('suggests', '')");
    await isHidden();
    await admin.patch('/api/v1/admin/settings', { 'auth.passkeys.enabled': '0', 'auth.passkeys.rp_id': '' });
    await eventually('passkeys are off', async () => (await options()).status === 422);
    await isHidden();
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
