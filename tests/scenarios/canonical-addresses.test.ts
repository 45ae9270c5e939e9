import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { followedEverywhere } from '../harness/stacks/followed-settings.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { countsOf, imported, linesOf } from './import-jobs.ts';
import { auth, clientOf, createUsers, password } from './users.ts';

/** Two ways to write one mailbox, and the text that is stored. */
const mailboxes = [
  { name: 'the ASCII form of a domain', one: 'a@münchen.de', other: 'a@xn--mnchen-3ya.de', stored: 'a@münchen.de' },
  {
    name: 'composed letters',
    one: 'ünï@b.co'.normalize('NFC'),
    other: 'ünï@b.co'.normalize('NFD'),
    stored: 'ünï@b.co',
  },
  { name: 'the case of a domain', one: 'C@Bücher.example', other: ' c@BÜCHER.EXAMPLE ', stored: 'C@bücher.example' },
];

const unmailable = [
  'a,b@x.co',
  '<b@x.co>',
  'a@x.co;',
  'a@b..co',
  'x@[127.0.0.1]',
  'x@127.0.0.1',
  'a@x.co\r\nBcc: b@x.co',
  'a\r\nBcc:x@x.co',
  '"a b"@x.co',
  'a..b@x.co',
  'a\u200bb@x.co',
  '\u202ea@x.co',
  'a@x_y.co',
];

onEachTopology('one mailbox is one account', async (t, target) => {
  const users = await createUsers(target, { update_rule: 'id = @request.auth.id', create_rule: null });
  const admin = await target.admin();
  const { guest } = target;
  const login = (email: string) => guest.send('POST', `${auth}/${users}/login`, { body: { email, password } });
  const sessions: Record<string, unknown> = {};

  for (const { name, one, other, stored } of mailboxes) {
    await t.test(`${name}: however it is written, it signs in [auth §1.3]`, async () => {
      const made = await guest.post(`${auth}/${users}/register`, { email: one, password });
      assert.equal(textAt(made, 'record.email'), stored.normalize('NFC'));
      sessions[one] = made;
      for (const email of [one, other, stored]) {
        const { status, json } = await login(email);
        assert.equal(status, 200, email);
        assert.equal(at(json, 'data.record.id'), at(made, 'record.id'));
      }
    });

    await t.test(`${name}: no door makes a second account from it [auth §1.3]`, async () => {
      const body = { email: other, password };
      for (const [method, path, sent] of [
        ['POST', `${auth}/${users}/register`, body],
        ['POST', `/api/v1/${users}`, body],
        ['PUT', `/api/v1/${users}/chosen`, body],
        ['POST', '/api/v1/batch', { operations: [{ op: 'create', collection: users, data: body }] }],
      ] as const) {
        const answer = await admin.send(method, path, { body: sent });
        assert.equal(answer.status, 422, `${method} ${path} ${answer.text}`);
        assert.match(answer.text, /email/);
      }
      const job = await imported(admin, users, { format: 'ndjson' }, linesOf([body]));
      assert.deepEqual(countsOf(job), { total: 1, read: 1, refused: 1 });
      const found = await admin.send('PUT', `/api/v1/${users}?on=email`, { body: { email: other, nick: 'found' } });
      assert.equal(found.status, 200, found.text);
      const upserts = { format: 'ndjson', mode: 'upsert', on: 'email' } as const;
      const updated = await imported(admin, users, upserts, linesOf([{ email: other, nick: 'again' }]));
      assert.deepEqual(countsOf(updated), { total: 1, read: 1, done: 1 });
    });

    await t.test(`${name}: writing one's own address otherwise does not change it [identity §4.3]`, async () => {
      const session = sessions[one];
      const path = `/api/v1/${users}/${textAt(session, 'record.id')}`;
      const kept = await clientOf(target, session).send('PATCH', path, { body: { email: other } });
      assert.equal(kept.status, 200, kept.text);
      const moved = await clientOf(target, session).send('PATCH', path, { body: { email: `new${stored}` } });
      assert.equal(at(moved.json, 'code'), 'proof_required', moved.text);
    });
  }

  await t.test('İx@ and ix@ are two mailboxes [auth §1.3]', async () => {
    const ids = new Set<unknown>();
    for (const email of ['İx@example.com', 'ix@example.com']) {
      const made = await guest.post(`${auth}/${users}/register`, { email, password });
      assert.equal(textAt(made, 'record.email').normalize('NFC'), email);
      ids.add(at((await login(email)).json, 'data.record.id'));
    }
    assert.equal(ids.size, 2);
  });

  await t.test('what no mail reaches is refused at every door [fields §3.4]', async () => {
    const session = sessions[mailboxes[0]?.one ?? ''];
    const own = `/api/v1/${users}/${textAt(session, 'record.id')}`;
    for (const email of unmailable) {
      const body = { email, password };
      for (const answer of [
        await guest.send('POST', `${auth}/${users}/register`, { body }),
        await admin.send('POST', `/api/v1/${users}`, { body }),
        await admin.send('PATCH', own, { body: { email } }),
        await admin.send('POST', '/api/v1/admin/admins', { body }),
      ]) {
        assert.equal(answer.status, 422, `${JSON.stringify(email)} ${answer.text}`);
        assert.ok(at(answer.json, 'details.email'), answer.text);
      }
      const job = await imported(admin, users, { format: 'ndjson' }, linesOf([body]));
      assert.deepEqual(countsOf(job), { total: 1, read: 1, refused: 1 }, email);
      assert.equal((await login(email)).status, 401, email);
      for (const [path, status] of [
        ['request-password-reset', 200],
        ['otp/request', 422],
      ] as const) {
        const answer = await guest.send('POST', `${auth}/${users}/${path}`, { body: { email } });
        assert.ok(answer.status === 200 || answer.status === status, `${path} ${answer.text}`);
      }
    }
  });

  await t.test('admins sign in with every form of their address [admins §2]', async () => {
    for (const [index, { one, other }] of mailboxes.entries()) {
      const made = await admin.post('/api/v1/admin/admins', { email: `${index}${one}`, password });
      const again = await admin.send('POST', '/api/v1/admin/admins', {
        body: { email: `${index}${other.trim()}`, password },
      });
      assert.equal(again.status, 422, again.text);
      const body = { email: `${index}${other.trim()}`, password };
      assert.equal((await guest.send('POST', '/api/v1/admin/login', { body })).status, 200);
      await admin.delete(`/api/v1/admin/admins/${textAt(made, 'id')}`);
    }
  });

  await t.test('mail goes to the ASCII form of the domain [mail §2.6]', async () => {
    await using mail = await startMailServer();
    await admin.patch('/api/v1/admin/settings', mail.settings);
    // A reset is answered 200 even while mail is off.
    const probe = clientOf(
      target,
      await guest.post(`${auth}/${users}/register`, { email: 'probe@example.com', password }),
    );
    await eventually('mail is enabled', async () => {
      return (await probe.send('POST', `${auth}/${users}/request-verify`)).status === 200;
    });
    for (const email of ['a@münchen.de', 'a@xn--mnchen-3ya.de']) {
      assert.equal(
        (await guest.send('POST', `${auth}/${users}/request-password-reset`, { body: { email } })).status,
        200,
      );
      // The test server decodes the envelope's recipient.
      const { email: received } = await mail.mailTo('a@münchen.de', { count: email === 'a@münchen.de' ? 1 : 2 });
      assert.equal(received.headers.find(({ key }) => key === 'to')?.value, 'a@xn--mnchen-3ya.de');
    }
    await admin.patch('/api/v1/admin/settings', Object.fromEntries(Object.keys(mail.settings).map((key) => [key, ''])));
  });
});

onEachTopology('the lockout counts all forms of an address together', async (t, target) => {
  const users = await createUsers(target);
  const admin = followedEverywhere(await target.admin());
  await admin.patch('/api/v1/admin/settings', { 'auth.lockout.max_attempts': '3' });
  await t.test("a domain's ASCII form evades no count [auth §4.3]", async () => {
    const statuses: number[] = [];
    for (const email of ['b@münchen.de', 'b@xn--mnchen-3ya.de', 'b@MU\u0308NCHEN.de', 'b@xn--mnchen-3ya.de'])
      statuses.push(
        (await target.guest.send('POST', `${auth}/${users}/login`, { body: { email, password: 'wrong' } })).status,
      );
    assert.deepEqual(statuses, [401, 401, 401, 429]);
  });
  await admin.patch('/api/v1/admin/settings', { 'auth.lockout.max_attempts': '' });
});
