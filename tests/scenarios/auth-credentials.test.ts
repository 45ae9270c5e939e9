import assert from 'node:assert/strict';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { eventually } from '../harness/eventually.ts';
import { objectAt, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { auth, clientOf, createUsers, password, signUp, userRecord } from './users.ts';

onEachTopology('guesses at the old password are limited', async (t, target) => {
  const users = await createUsers(target, { update_rule: 'id = @request.auth.id' });
  const ann = await signUp(target, users, 'ann@example.com');
  const asAnn = clientOf(target, ann);
  const patch = (old_password: string) =>
    asAnn.send('PATCH', `/api/v1/${users}/${textAt(ann, 'record.id')}`, {
      body: { password: `${password}!`, old_password },
    });
  const change = (old_password: string) =>
    asAnn.send('POST', `${auth}/${users}/change-password`, { body: { password: `${password}!`, old_password } });
  await t.test('after ten wrong passwords PATCH and change-password answer 429, even to the right one', async () => {
    for (let count = 0; count < 5; count += 1) {
      assert.equal((await patch(`wrong ${count}`)).status, 422);
      assert.equal((await change(`wrong ${count}`)).status, 422);
    }
    for (const attempt of [patch, change]) {
      const answer = await attempt(password);
      assert.equal(answer.status, 429);
      assert.match(answer.headers['retry-after'] ?? '', /^\d+$/);
    }
    assert.equal(
      (await target.guest.send('POST', `${auth}/${users}/login`, { body: { email: 'ann@example.com', password } }))
        .status,
      200,
    );
  });
});

onEachTopology('no answer or event contains credentials', async (t, target) => {
  const users = await createUsers(target, { history_enabled: true });
  const admin = await target.admin();
  await using bus = target.natsUrl === undefined ? undefined : await openBusReader(target.natsUrl, { isFromNow: true });
  const ann = await signUp(target, users, 'ann@example.com');
  const id = textAt(ann, 'record.id');
  const asAnn = clientOf(target, ann);
  const path = `/api/v1/${users}/${id}`;
  await asAnn.patch(path, { password: `${password}!`, old_password: password });
  await admin.patch(path, { password, nick: 'ann' });
  const secrets = /argon2|password|totp|token_version|is_anonymous/;
  await t.test('answers, lists and history contain none [records §2.3]', async () => {
    const login = { email: 'ann@example.com', password };
    const texts = [
      await admin.get(path),
      await admin.get(`/api/v1/${users}`),
      await admin.get(`${path}/history`),
      await admin.get(`/api/v1/${users}?fields=id,password_hash,token_version`),
      await target.guest.send('POST', `${auth}/${users}/login`, { body: login }),
    ].map(({ text }) => text);
    for (const text of texts) assert.doesNotMatch(text, secrets);
    assert.match(texts[2] ?? '', /"totalItems":3/);
  });
  if (bus)
    await t.test('each write has one event, with the record and nothing else [events §2.4]', async () => {
      const published = () => bus.events.filter(({ subject }) => subject.startsWith(`events.${users}.`));
      await eventually('the events', () => published().length === 3);
      for (const { body } of published()) {
        assert.doesNotMatch(JSON.stringify(body), secrets);
        assert.deepEqual(Object.keys(objectAt(body, 'data.record')).sort(), Object.keys(userRecord('')).sort());
      }
    });
});

onEachTopology('a password is one password in every Unicode form', async (t, target) => {
  const users = await createUsers(target);
  const [composed, decomposed] = [password + 'äé'.normalize('NFC'), password + 'äé'.normalize('NFD')];
  const login = async (email: string, sent: string) =>
    (await target.guest.send('POST', `${auth}/${users}/login`, { body: { email, password: sent } })).status;
  await t.test('composed and decomposed letters sign in, whichever was set [auth §2.1]', async () => {
    for (const [email, set] of [
      ['composed@example.com', composed],
      ['decomposed@example.com', decomposed],
    ] as const) {
      await target.guest.post(`${auth}/${users}/register`, { email, password: set });
      for (const sent of [composed, decomposed]) assert.equal(await login(email, sent), 200);
      assert.equal(await login(email, `${password}ae`), 401);
    }
  });
  await t.test('characters are counted in NFC [auth §2.1]', async () => {
    const body = { email: 'short@example.com', password: 'ä'.repeat(11).normalize('NFD') };
    const { status, json } = await target.guest.send('POST', `${auth}/${users}/register`, { body });
    assert.equal(status, 422);
    assert.match(textAt(json, 'details.password'), /at least 12/);
  });
  await t.test('half a character is refused when a password is set [auth §2.1]', async () => {
    const admin = await target.admin();
    for (const half of ['\ud800', '\udc00']) {
      const sent = { email: 'half@example.com', password: `${password}${half}` };
      for (const answer of [
        await target.guest.send('POST', `${auth}/${users}/register`, { body: sent }),
        await admin.send('POST', `/api/v1/${users}`, { body: sent }),
        await admin.send('POST', '/api/v1/admin/admins', { body: sent }),
      ])
        assert.ok(answer.status === 422 || answer.status === 400, `${answer.status} ${answer.text}`);
    }
  });
});
