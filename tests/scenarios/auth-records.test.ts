import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { auth, clientOf, createUsers, password, signUp, userRecord } from './users.ts';

onEachTopology('accounts are records', async (t, target) => {
  const users = await createUsers(target, { create_rule: null });
  const admin = await target.admin();
  const ann = await signUp(target, users, 'ann@example.com');
  const bob = await signUp(target, users, 'bob@example.com');
  const path = (session: unknown) => `/api/v1/${users}/${textAt(session, 'record.id')}`;
  const bearer = (session: unknown) => ({ Authorization: `Bearer ${textAt(session, 'token')}` });
  const create = (body: object, more: Partial<Scenario> = {}): Pick<Scenario, 'request' | 'body' | 'spec'> => ({
    request: `POST /api/v1/${users}`,
    body,
    spec: 'records §12.1',
    ...more,
  });
  const patchAsAnn = (body: object, to: unknown = ann): Pick<Scenario, 'request' | 'body' | 'spec' | 'headers'> => ({
    request: `PATCH ${path(to)}`,
    body,
    headers: bearer(ann),
    spec: 'records §12',
  });
  const updated = [`${users}.update`];
  await runScenarios(t, target, [
    {
      name: 'an admin creates a verified account with a password',
      as: 'admin',
      ...create({ email: 'cid@example.com', password, verified: true }),
      expect: { status: 201, json: { data: userRecord('cid@example.com', { verified: true }) } },
      events: [`${users}.create`],
    },
    {
      name: 'an admin creates an account without a password',
      as: 'admin',
      ...create({ email: 'dan@example.com' }),
      expect: { status: 201, json: { data: userRecord('dan@example.com') } },
      events: [`${users}.create`],
    },
    {
      name: 'a taken address in another case',
      as: 'admin',
      ...create({ email: 'CID@example.com', password }),
      expect: refused.invalid('email'),
    },
    {
      name: 'an invalid address, password and field together',
      as: 'admin',
      ...create({ email: 'x', password: 'short', colour: 1 }),
      expect: refused.invalid('email', 'password', 'colour'),
    },
    {
      name: 'a guest creates an account without a password',
      ...create({ email: 'e@example.com' }),
      expect: refused.invalid('password'),
    },
    {
      name: 'a guest creates a verified account',
      ...create({ email: 'e@example.com', password, verified: true }),
      expect: refused.forbiddenIn('verified'),
    },
    ...['password_hash', 'token_version', 'totp_enabled', 'is_anonymous'].flatMap((column): Scenario[] => [
      {
        name: `${column} in a create`,
        as: 'admin',
        ...create({ email: 'e@example.com', password, [column]: 'x' }),
        expect: refused.invalid(column),
      },
      { name: `${column} in an update`, ...patchAsAnn({ [column]: 'x' }), expect: refused.invalid(column) },
      {
        name: `a filter on ${column}`,
        as: 'admin',
        request: `GET /api/v1/${users}?filter=${column}!=null`,
        expect: refused.malformedWith({ filter: is.text }),
        spec: 'filters §4.2',
      },
      {
        name: `a sort by ${column}`,
        as: 'admin',
        request: `GET /api/v1/${users}?sort=${column}`,
        expect: refused.malformedWith({ sort: is.text }),
        spec: 'filters §4.2',
      },
    ]),
    {
      name: 'a user changes a field of their account',
      ...patchAsAnn({ nick: 'annie' }),
      expect: { status: 200, json: { data: userRecord('ann@example.com', { nick: 'annie' }) } },
      events: updated,
    },
    { name: "a user changes another user's account", ...patchAsAnn({ nick: 'x' }, bob), expect: refused.forbidden },
    { name: 'a user sets verified', ...patchAsAnn({ verified: true }), expect: refused.forbiddenIn('verified') },
    {
      name: 'a user sends verified unchanged',
      ...patchAsAnn({ verified: false, nick: 'ann' }),
      expect: { status: 200 },
      events: updated,
    },
    {
      name: 'a new password without the old one',
      ...patchAsAnn({ password }),
      expect: refused.invalid('old_password'),
    },
    {
      name: 'a new password with a wrong old one',
      ...patchAsAnn({ password, old_password: 'wrong password' }),
      expect: refused.invalid('old_password'),
    },
    {
      name: "a new password for another user's account",
      ...patchAsAnn({ password, old_password: password }, bob),
      expect: refused.forbidden,
    },
    {
      name: 'a new password that is too short',
      ...patchAsAnn({ password: 'short', old_password: password }),
      expect: refused.invalid('password'),
    },
  ]);

  await t.test('a new address is unverified, unless an admin sets it [records §12.4]', async () => {
    await admin.patch(path(bob), { verified: true });
    const asBob = clientOf(target, bob);
    assert.equal((await asBob.patch(path(bob), { email: 'BOB@example.com', verified: true })).verified, true);
    const change = { email: 'bob2@example.com', verified: true, old_password: password };
    assert.equal((await asBob.patch(path(bob), change)).verified, false);
    await admin.patch(path(bob), { verified: true });
    assert.equal((await admin.patch(path(bob), { email: 'bob3@example.com' })).verified, true);
  });

  await t.test('a new password ends earlier tokens, whether the user or an admin sets it [records §12.3]', async () => {
    const changed = 'another long password';
    const asAnn = clientOf(target, ann);
    await asAnn.patch(path(ann), { password: changed, old_password: password });
    const ended = (client: typeof asAnn) =>
      eventually('the token has ended', async () => (await client.get(`${auth}/${users}/sessions`)).status === 401);
    await ended(asAnn);
    const login = (given: string) =>
      target.guest.send('POST', `${auth}/${users}/login`, { body: { email: 'ann@example.com', password: given } });
    assert.equal((await login(password)).status, 401);
    const again = await login(changed);
    assert.equal(again.status, 200);
    await admin.patch(path(ann), { password });
    await ended(clientOf(target, objectAt(again.json, 'data')));
    assert.equal((await login(password)).status, 200);
  });
});
