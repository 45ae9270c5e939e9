import assert from 'node:assert/strict';
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { skipWithoutBrowser, startBrowser } from '../harness/browser/browser.ts';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, textAt } from '../harness/json.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { addVirtualAuthenticator, type VirtualAuthenticatorOptions } from '../harness/sign-in/virtual-authenticator.ts';
import { firstAdmin, type Stack, startStack } from '../harness/stacks/stack.ts';
import { type ClientPage, openClientPage, serveEmptyPage } from './client-page.ts';

const password = 'a long enough password';

/** Signs in with a passkey in a page. Its value is the state, the account, or an error's code. */
const signsIn = (account: string): string => `${account}.passkeys.login().then(({ state }) => state)`;
const members = "client.auth('members')";

/** In a page: uses a passkey for the options of a sign-in, and returns the body of `login/verify`. */
const answers = `(ceremony) => navigator.credentials
  .get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(ceremony.options) })
  .then((credential) => ({ challengeId: ceremony.challenge_id, credential: credential.toJSON() }))`;

/** A challenge for sign-ins that this stack made, and that ended a second ago. */
function expiredChallenge(secret: string, realm: string): string {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'recordbus passkey challenges', 32));
  const time = Buffer.alloc(6);
  time.writeUIntBE(Math.floor(Date.now() / 1000) - 1, 0, 6);
  const body = Buffer.concat([randomBytes(32), time]);
  return Buffer.concat([body, createHmac('sha256', key).update(body).update(realm).digest()]).toString('base64url');
}

describe("passkeys in a browser, with the product's client [WebAuthn 3]", { skip: skipWithoutBrowser }, () => {
  let stack: Stack;
  let admin: Client;
  let browser: Browser;
  let number = 0;
  let pages: Awaited<ReturnType<typeof serveEmptyPage>>;
  /** Where the app is. */
  let app: string;

  before(async () => {
    stack = await startStack({ topology: 'one' });
    admin = await stack.admin();
    await admin.post('/api/v1/collections', { name: 'members', type: 'auth' });
    await admin.patch('/api/v1/admin/settings', { 'cors.origins': 'http://localhost:*,http://app.localhost:*' });
    pages = await serveEmptyPage();
    app = `http://localhost:${pages.port}`;
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await pages?.[Symbol.asyncDispose]();
    await stack?.stop();
  });

  /** A device: a browser with an app and an authenticator, whose user confirms everything. */
  async function openDevice(options?: VirtualAuthenticatorOptions, origin = app) {
    const device = await openClientPage(browser, origin, stack.url);
    const authenticator = await addVirtualAuthenticator(device.page, options);
    await authenticator.touches(true);
    return { ...device, authenticator };
  }
  const newEmail = () => `user${number++}@example.com`;
  const register = async ({ run }: ClientPage, email = newEmail()) => {
    const credentials = JSON.stringify({ email, password });
    assert.equal(await run(`${members}.register(${credentials}).then(({ state }) => state)`), 'signed_in');
    return email;
  };
  const add = ({ run }: ClientPage, name: string) =>
    run(`${members}.passkeys.add({ name: ${JSON.stringify(name)} }).then(({ name }) => name)`);
  /** A device whose user has signed up and added a passkey. */
  async function openMember(options?: VirtualAuthenticatorOptions) {
    const device = await openDevice(options);
    const email = await register(device);
    assert.equal(await add(device, 'First'), 'First');
    return { ...device, email };
  }
  const signOut = ({ run }: ClientPage) => run(`${members}.logout()`);
  const isSignedIn = ({ run }: ClientPage) => run('client.session.current().then((session) => Boolean(session))');
  const beginLogin = `${members}.passkeys.steps.beginLogin()`;
  const finish = (body: string) => `${members}.passkeys.steps.finishLogin(${body}).then(({ state }) => state)`;

  test('from the sign-up to a second device', async () => {
    const laptop = await openDevice();
    const email = await register(laptop);
    assert.equal(await add(laptop, 'Laptop'), 'Laptop');
    const [key] = await laptop.authenticator.keys();
    assert.equal(key?.isResidentCredential, true);
    await signOut(laptop);
    assert.equal(await laptop.run(signsIn(members)), 'signed_in');

    // The second device has no passkey yet. The password is its way in.
    const phone = await openDevice();
    assert.equal(await phone.run(signsIn(members)), 'NotAllowedError');
    assert.equal(
      await phone.run(`${members}.login(${JSON.stringify({ email, password })}).then(({ state }) => state)`),
      'signed_in',
    );
    assert.equal(await add(phone, 'Phone'), 'Phone');
    await signOut(phone);
    assert.equal(await phone.run(signsIn(members)), 'signed_in');
    const named = `${members}.passkeys.list().then((list) => list.map(({ name }) => name).sort())`;
    assert.deepEqual(await phone.run(named), ['Laptop', 'Phone']);

    // The first device is lost.
    const removes = `${members}.passkeys.list().then((list) => ${members}.passkeys.remove(list.find(({ name }) => name === 'Laptop').id))`;
    assert.equal(await phone.run(removes), null);
    await signOut(laptop);
    assert.equal(await laptop.run(signsIn(members)), 'invalid_passkey');
    await signOut(phone);
    assert.equal(await phone.run(signsIn(members)), 'signed_in');
  });

  test('a copied key opens the account on another device', async () => {
    const laptop = await openMember();
    const phone = await openDevice();
    for (const key of await laptop.authenticator.keys()) await phone.authenticator.add(key);
    assert.equal(await phone.run(signsIn(members)), 'signed_in');
  });

  test('the same device is added once', async () => {
    const device = await openMember();
    assert.equal(await add(device, 'Again'), 'InvalidStateError');
    const names = await device.run(`${members}.passkeys.list().then((list) => list.map(({ name }) => name))`);
    assert.deepEqual(names, ['First']);
  });

  test('an authenticator that keeps no accounts, or cannot verify its user, is not offered', async () => {
    for (const options of [{ isResident: false }, { isResident: false, verifies: false }]) {
      const device = await openDevice(options);
      await register(device);
      assert.equal(await add(device, 'Old'), 'NotAllowedError');
      assert.deepEqual(await device.run(`${members}.passkeys.list()`), []);
    }
    // Chromium makes the key, and later refuses to use it for a sign-in that names no account.
    const touched = await openDevice({ verifies: false });
    await register(touched);
    assert.equal(await add(touched, 'Touched'), 'Touched');
    await signOut(touched);
    assert.equal(await touched.run(signsIn(members)), 'NotAllowedError');
  });

  test('with user verification it is both factors; without, the app is asked', async () => {
    const device = await openMember();
    const secret = String(await device.run(`${members}.totp.setup().then(({ secret }) => secret)`));
    await device.run(`${members}.totp.confirm(${JSON.stringify(totpCode(secret))})`);
    await signOut(device);
    assert.equal(await device.run(signsIn(members)), 'signed_in');
    await signOut(device);
    await device.authenticator.forges({ isUnverified: true });
    const code = JSON.stringify(totpCode(secret, 1));
    const both = `${members}.passkeys.login().then(async (first) => [first.state, (await first.confirm({ code: ${code} })).state])`;
    assert.deepEqual(await device.run(both), ['mfa_required', 'signed_in']);
  });

  test('a wrong signature, an absent user and a swapped user handle are refused', async () => {
    const device = await openMember();
    await signOut(device);
    await device.authenticator.forges({ isBogus: true });
    assert.equal(await device.run(signsIn(members)), 'invalid_passkey');
    await device.authenticator.forges({ isAbsent: true });
    assert.match(String(await device.run(signsIn(members))), /^(invalid_passkey|NotAllowedError)$/);
    await device.authenticator.forges({});
    assert.equal(await device.run(signsIn(members)), 'signed_in');

    const [own] = await device.authenticator.keys();
    const [others] = await (await openMember()).authenticator.keys();
    const thief = await openDevice();
    assert.ok(own && others?.userHandle);
    await thief.authenticator.add({ ...own, userHandle: others.userHandle });
    assert.equal(await thief.run(signsIn(members)), 'invalid_passkey');
    assert.equal(await isSignedIn(thief), false);
  });

  test('an answer signs in once, also for two at once', async () => {
    const device = await openMember();
    await signOut(device);
    const twice = `(async () => {
      const body = await (${answers})(await ${beginLogin});
      const outcome = () => ${finish('body')}.catch(({ code }) => code);
      return [(await Promise.all([outcome(), outcome()])).sort(), await outcome()];
    })()`;
    assert.deepEqual(await device.run(twice), [['invalid_passkey', 'signed_in'], 'invalid_passkey']);
  });

  test('two devices sign in to an account at once', async () => {
    const laptop = await openMember();
    const phone = await openDevice();
    const credentials = JSON.stringify({ email: laptop.email, password });
    await phone.run(`${members}.login(${credentials}).then(({ state }) => state)`);
    assert.equal(await add(phone, 'Second'), 'Second');
    await Promise.all([signOut(laptop), signOut(phone)]);
    const signIns = await Promise.all([laptop, phone].map(({ run }) => run(signsIn(members))));
    assert.deepEqual(signIns, ['signed_in', 'signed_in']);
  });

  test('an expired challenge is refused', async () => {
    const device = await openMember();
    await signOut(device);
    const { json } = await admin.get('/api/v1/collections/members');
    const challenge = JSON.stringify(expiredChallenge(stack.ground.secret, textAt(json, 'data.id')));
    const late = `(async () => {
      const { options } = await ${beginLogin};
      const expired = { challenge_id: ${challenge}, options: { ...options, challenge: ${challenge} } };
      return (${answers})(expired).then((body) => ${finish('body')});
    })()`;
    assert.equal(await device.run(late), 'invalid_passkey');
    assert.equal(await device.run(signsIn(members)), 'signed_in');
  });

  test('a page at another origin, and one of another relying party, are refused', async () => {
    const device = await openMember();
    const keys = await device.authenticator.keys();
    await admin.patch('/api/v1/admin/settings', { 'auth.passkeys.origins': app });
    await using elsewherePages = await serveEmptyPage();
    const other = await openDevice(undefined, `http://localhost:${elsewherePages.port}`);
    for (const key of keys) await other.authenticator.add(key);
    await eventually(
      'only the one origin is admitted',
      async () => (await other.run(signsIn(members))) === 'invalid_passkey',
    );
    await signOut(device);
    assert.equal(await device.run(signsIn(members)), 'signed_in', 'the right origin');
    await admin.patch('/api/v1/admin/settings', { 'auth.passkeys.origins': '' });
    await eventually('every port again', async () => (await other.run(signsIn(members))) === 'signed_in');

    // Its browser makes a key only for its own domain, and does not use one of ours.
    const elsewhere = await openDevice(undefined, app.replace('localhost', 'app.localhost'));
    assert.equal(await elsewhere.run(signsIn(members)), 'SecurityError');
    const [key] = keys;
    assert.ok(key);
    await elsewhere.authenticator.add({ ...key, rpId: 'app.localhost' });
    const ours = `(async () => {
      const { challenge_id, options } = await ${beginLogin};
      return (${answers})({ challenge_id, options: { ...options, rpId: 'app.localhost' } }).then((body) => ${finish('body')});
    })()`;
    assert.equal(await elsewhere.run(ours), 'invalid_passkey');
  });

  test('a suggestion waits, and ends with its signal', async () => {
    const device = await openMember();
    await signOut(device);
    await device.authenticator.touches(false);
    const ended = `(async () => {
      const waiting = new AbortController();
      const signIn = ${members}.passkeys.login({ conditional: true, signal: waiting.signal });
      setTimeout(() => waiting.abort(), 50);
      return signIn.then(({ state }) => state);
    })()`;
    assert.match(String(await device.run(ended)), /^(AbortError|aborted)$/);
    await device.authenticator.touches(true);
    const suggested = `${members}.passkeys.login({ conditional: true }).then(({ state }) => state)`;
    assert.equal(await device.run(suggested), 'signed_in');
  });

  test("an admin's key opens no user, and a user's no admin", async () => {
    const credentials = JSON.stringify(firstAdmin);
    const boss = await openDevice();
    assert.equal(await boss.run(`client.admin.login(${credentials}).then(({ state }) => state)`), 'signed_in');
    const adds = `client.admin.passkeys.add({ name: 'Office', oldPassword: ${JSON.stringify(firstAdmin.password)} }).then(({ name }) => name)`;
    assert.equal(await boss.run(adds), 'Office');
    await boss.run('client.admin.logout()');
    assert.equal(await boss.run(signsIn('client.admin')), 'signed_in');
    assert.equal(await boss.run(signsIn(members)), 'invalid_passkey');
    const member = await openMember();
    assert.equal(await member.run(signsIn('client.admin')), 'invalid_passkey');
    const { json } = await admin.get('/api/v1/admin/passkeys');
    assert.deepEqual(
      listAt(json, 'data').map(({ name }) => name),
      ['Office'],
    );
  });
});
