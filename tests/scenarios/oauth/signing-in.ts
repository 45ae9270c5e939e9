import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Answer } from '../../harness/clients/client.ts';
import { at, objectAt, textAt } from '../../harness/json.ts';
import { differences, is } from '../../harness/matching.ts';
import { refused } from '../../harness/refusals.ts';
import type { OidcServer, Person } from '../../harness/servers/oidc-server.ts';
import { runScenarios } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { newPerson, password, path, statusOf, type Visitor } from './visitor.ts';

/** Users who sign in with the provider, for the first time and again. */
export async function signingIn(t: TestContext, target: Target, server: OidcServer, visitor: Visitor): Promise<void> {
  const { visit, exchange, signIn, as, register } = visitor;
  const admin = await target.admin();
  const { guest } = target;
  await t.test('the first sign-in creates an account, and the next one finds it', async () => {
    const person = newPerson('fay');
    const first = await signIn(person);
    assert.equal(first.status, 200, first.text);
    const record = objectAt(first.json, 'data.record');
    assert.deepEqual(
      differences(first.json, {
        data: {
          token: is.text,
          profile: is.containing({ provider: 'oidc', email: person.email }),
          record: {
            id: is.uuidV7,
            email: `oidc_${record.id}@users.invalid`,
            verified: false,
            nick: null,
            anonymous: false,
            created: is.now,
            updated: is.now,
          },
        },
      }),
      [],
    );
    const again = await signIn(person);
    assert.equal(textAt(again.json, 'data.record.id'), record.id);
    const own = as(textAt(again.json, 'data.token'));
    assert.equal(statusOf(await own.send('PATCH', `/api/v1/people/${record.id}`, { body: { nick: 'fay' } })), 200);
    assert.equal(statusOf(await own.send('POST', '/api/v1/auth/refresh')), 200);
  });

  await t.test("a new person's parallel sign-ins create one account", async () => {
    const person = newPerson('gus');
    const visits = await Promise.all(Array.from({ length: 4 }, () => visit(person)));
    const answers = await Promise.all(visits.map(exchange));
    assert.deepEqual(answers.map(statusOf), [200, 200, 200, 200]);
    assert.equal(new Set(answers.map(({ json }) => at(json, 'data.record.id'))).size, 1);
  });

  await t.test('a code works once', async () => {
    const credentials = await visit(newPerson('hal'));
    assert.equal(statusOf(await exchange(credentials)), 200);
    const replay = await exchange(credentials);
    assert.equal(replay.status, 422);
    assert.match(textAt(replay.json, 'details.provider'), /^invalid_grant/);
    assert.ok(!replay.text.includes(credentials.code), 'the answer does not repeat the code');
  });

  await t.test("a redirectUri other than the code's is refused by the provider", async () => {
    const credentials = await visit(newPerson('ivy'));
    assert.equal(statusOf(await exchange({ ...credentials, redirectUri: 'https://evil.example.com/' })), 422);
  });

  await t.test('a client that sends its secret in the form works too', async () => {
    await admin.patch('/api/v1/admin/settings', server.settings('post'));
    assert.equal(statusOf(await signIn(newPerson('jon'))), 200);
    await admin.patch('/api/v1/admin/settings', server.settings());
  });

  await t.test("the provider's unverified address matches no account", async () => {
    const { id } = await register('sue@example.com');
    for (const email_verified of [false, undefined, 'true', 1, '1']) {
      const person = {
        id: randomUUID(),
        email: 'sue@example.com',
        ...(email_verified !== undefined && { email_verified }),
      };
      const answer = await signIn(person);
      assert.equal(answer.status, 200);
      assert.notEqual(textAt(answer.json, 'data.record.id'), id);
      assert.match(textAt(answer.json, 'data.record.email'), /@users\.invalid$/);
    }
  });

  await t.test('a made-up address that the provider vouches for proves nothing [oauth §1.1]', async () => {
    await admin.patch('/api/v1/admin/settings', { 'oauth2.verified_email.people': '1' });
    const vouched = { id: randomUUID(), email: `oidc_${randomUUID()}@users.invalid`, email_verified: true };
    const answer = await signIn(vouched);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(at(answer.json, 'data.record.verified'), false);
    assert.notEqual(textAt(answer.json, 'data.record.email'), vouched.email);
    assert.equal(at(answer.json, 'data.profile.email_verified'), false);
    await admin.patch('/api/v1/admin/settings', { 'oauth2.verified_email.people': '' });
  });

  const una = newPerson('una');
  const rows = [
    { name: 'a first sign-in, which publishes an event', events: ['people.create'] },
    { name: 'a second sign-in, without an event', events: [] },
  ];
  await runScenarios(
    t,
    target,
    await Promise.all(
      rows.map(async (row) => ({
        ...row,
        request: `POST ${path}/exchange`,
        body: await visit(una),
        expect: { status: 200 },
        spec: 'events §1.1',
      })),
    ),
  );

  await t.test('a deleted user leaves no link behind', async () => {
    const person = newPerson('yan');
    const first = await signIn(person);
    const id = textAt(first.json, 'data.record.id');
    await as(textAt(first.json, 'data.token')).delete(`/api/v1/people/${id}`);
    const second = await signIn(person);
    assert.equal(second.status, 200, second.text);
    assert.notEqual(textAt(second.json, 'data.record.id'), id);
  });

  await t.test("the app may send a new account's fields, but neither address nor verified", async () => {
    await admin.post('/api/v1/collections', {
      name: 'strict',
      type: 'auth',
      fields: [{ name: 'country', type: 'text', required: true }],
    });
    const enter = async (person: Person, record: object): Promise<Answer> => {
      const body = { ...(await visit(person)), record };
      return guest.send('POST', '/api/v1/auth/strict/oauth2/exchange', { body });
    };
    const person = newPerson('adi');
    const bad = await enter(person, { password, colour: 'red' });
    assert.equal(bad.status, 422);
    assert.deepEqual(differences(bad.json, refused.invalid('country', 'password', 'colour').json), []);
    // Refused before the code is used up, and also for an account that exists.
    const credentials = await visit(person);
    for (const [record, status, member] of [
      [{ country: 'CH', email: 'victim@example.com' }, 422, 'email'],
      [{ country: 'CH', email: null }, 422, 'email'],
      [{ country: 'CH', verified: 'yes' }, 422, 'verified'],
      [{ country: 'CH', verified: true }, 403, undefined],
    ] as const) {
      const body = { ...credentials, record };
      const answer = await guest.send('POST', '/api/v1/auth/strict/oauth2/exchange', { body });
      assert.equal(answer.status, status, answer.text);
      if (member) assert.ok(at(answer.json, `details.${member}`), answer.text);
    }
    const good = await guest.send('POST', '/api/v1/auth/strict/oauth2/exchange', {
      body: { ...credentials, record: { country: 'CH', verified: false } },
    });
    const { id } = objectAt(good.json, 'data.record');
    const expected = { id: is.uuidV7, country: 'CH', email: `oidc_${id}@users.invalid`, verified: false };
    assert.deepEqual(
      differences(good.json, {
        data: {
          token: is.text,
          profile: is.containing({ provider: 'oidc', email: person.email }),
          record: is.containing(expected),
        },
      }),
      [],
    );
    assert.equal(textAt((await enter(person, {})).json, 'data.record.id'), id, 'an existing account needs no fields');
  });
}
