import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, objectAt, textAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { unknownId } from './blog.ts';

const path = '/api/v1/admin/mails';

interface Logged {
  readonly id: string;
  readonly to: string;
  readonly template: string;
  readonly state: string;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly collection_id: string | null;
  readonly record_id: string | null;
  readonly created: number;
  readonly finished: number | null;
}

onEachTopology('the mail log', async (t, target) => {
  await using server = await startMailServer();
  await runScenarios(t, target, [
    { name: 'a guest', request: `GET ${path}`, expect: refused.unauthenticated, spec: 'http §6.2' },
    { name: 'a user', as: 'user', request: `GET ${path}`, expect: refused.forbidden, spec: 'http §6.3' },
    {
      name: 'an unknown state',
      as: 'admin',
      request: `GET ${path}?state=lost`,
      expect: refused.duplicate,
      spec: 'mail §4.1',
    },
    {
      name: 'a guest, one mail',
      request: `GET ${path}/${unknownId}`,
      expect: refused.unauthenticated,
      spec: 'http §6.2',
    },
    {
      name: 'a user sends one',
      as: 'user',
      request: `POST ${path}/${unknownId}/send`,
      body: {},
      expect: refused.forbidden,
      spec: 'http §6.3',
    },
    {
      name: 'an unknown mail',
      as: 'admin',
      request: `GET ${path}/${unknownId}`,
      expect: refused.notFound,
      spec: 'mail §4.2',
    },
    { name: 'no id', as: 'admin', request: `GET ${path}/none`, expect: refused.notFound, spec: 'mail §4.2' },
    {
      name: 'an unknown mail, sent',
      as: 'admin',
      request: `POST ${path}/${unknownId}/send`,
      body: {},
      expect: refused.notFound,
      spec: 'mail §4.2',
    },
    { name: 'NUL', as: 'admin', request: `GET ${path}?to=%00`, expect: refused.duplicate, spec: 'mail §4.1' },
  ]);
  const admin = await target.admin();
  const created = await admin.send('POST', '/api/v1/collections', { body: { name: 'readers', type: 'auth' } });
  const collectionId = textAt(created.json, 'data.id');
  await admin.patch('/api/v1/admin/settings', server.settings);
  const ids = new Map<string, string>();
  const register = async (name: string) => {
    const email = `${name}@example.com`;
    const { json } = await createClient(target.url).send('POST', '/api/v1/auth/readers/register', {
      body: { email, password: 'a long and winding password' },
    });
    ids.set(email, textAt(json, 'data.record.id'));
    return textAt(json, 'data.token');
  };
  await eventually('mail is enabled', async () => {
    const token = await register(`probe.${Math.random()}`);
    const asked = await createClient(target.url, token).send('POST', '/api/v1/auth/readers/request-verify', {
      body: {},
    });
    return asked.status === 200;
  });
  // The log has other files' mails too, so no other file has these addresses.
  for (const name of ['ada.logged', 'refuse.logged', 'later.logged']) await register(name);
  const list = async (query: string) => {
    const { json } = await admin.get(`${path}?${query}`);
    return { rows: listAt(json, 'data') as unknown as Logged[], text: JSON.stringify(json) };
  };
  const ended = (email: string) =>
    eventually(`the mail to ${email} ends`, async () => {
      const { rows } = await list(`to=${encodeURIComponent(email)}`);
      return rows.length === 1 && rows[0]?.finished != null && rows[0];
    });

  await t.test('an accepted mail is sent, and the log has no word of it [mail §4.1]', async () => {
    const mail = await ended('ada.logged@example.com');
    assert.deepEqual(
      [mail.template, mail.state, mail.attempts, mail.last_error, mail.collection_id, mail.record_id],
      ['verify', 'sent', 1, null, collectionId, ids.get('ada.logged@example.com')],
    );
    const { token } = await server.mailTo('ada.logged@example.com');
    assert.ok(token);
    assert.ok(!(await list('perPage=100')).text.includes(token));
  });
  await t.test('a mail that is refused for good is dead at once [mail §3.4]', async () => {
    const { state, attempts, last_error } = await ended('refuse.logged@example.com');
    assert.deepEqual(
      { state, attempts, last_error },
      { state: 'dead', attempts: 1, last_error: '550 no such user here' },
    );
  });
  await t.test('a mail that is refused for now is sent later [mail §3.3]', async () => {
    const { state, attempts, last_error } = await ended('later.logged@example.com');
    assert.deepEqual({ state, attempts, last_error }, { state: 'sent', attempts: 2, last_error: null });
  });
  const read = async (id: string) => objectAt((await admin.get(`${path}/${id}`)).json, 'data');
  const idOf = async (email: string) => String((await list(`to=${encodeURIComponent(email)}`)).rows[0]?.id);

  await t.test("one mail has its attempts, with the server's words [mail §4.2]", async () => {
    const sent = await read(await idOf('later.logged@example.com'));
    const { attempt_log: log, next_attempt, ...mail } = sent;
    assert.deepEqual(mail, (await list('to=later.logged@example.com')).rows[0]);
    assert.equal(next_attempt, null);
    assert.ok(Array.isArray(log));
    assert.deepEqual(
      log.map(({ error }) => error),
      ['451 try again later', null],
    );
    for (const { at } of log)
      assert.ok(at >= Number(mail.created) && at <= Number(mail.finished), JSON.stringify(sent));
    const dead = await read(await idOf('refuse.logged@example.com'));
    assert.deepEqual(
      listAt(dead, 'attempt_log').map(({ error }) => error),
      ['550 no such user here'],
    );
  });
  await t.test('a waiting mail is sent at once when an admin says so, others are 409 [mail §4.2]', async () => {
    await register('busy.logged');
    const id = await idOf('busy.logged@example.com');
    const send = () => admin.send('POST', `${path}/${id}/send`, { body: {} });
    const tried = async (attempts: number) =>
      eventually(`${attempts} attempts`, async () => {
        assert.equal((await send()).status, 200);
        const mail = await read(id);
        return Number(mail.attempts) >= attempts && mail;
      });
    // By itself the fifth attempt would come 300 seconds after the fourth.
    await tried(4);
    const mail = await tried(5);
    assert.equal(mail.state, 'waiting');
    assert.ok(Number(mail.next_attempt) >= Number(mail.created));
    assert.ok(listAt(mail, 'attempt_log').every(({ error }) => error === '451 try again later'));
    assert.equal(listAt(mail, 'attempt_log').length, mail.attempts);
    for (const email of ['ada.logged@example.com', 'refuse.logged@example.com']) {
      const answer = await admin.send('POST', `${path}/${await idOf(email)}/send`, { body: {} });
      assert.deepEqual([answer.status, textAt(answer.json, 'code')], [409, 'mail_state']);
    }
    const { json } = await admin.get(`/api/v1/admin/audit?action=mails.send&perPage=1`);
    assert.equal(textAt(json, 'data.0.target_id'), id, JSON.stringify(json));
  });
  await t.test('by state, record, template and page', async () => {
    const addresses = async (query: string) => (await list(query)).rows.map(({ to }) => to);
    const [ada, bob] = ['ada.logged@example.com', 'refuse.logged@example.com'].map(
      (email) => `record_id=${ids.get(email)}`,
    );
    assert.deepEqual(await addresses(`state=dead&${bob}`), ['refuse.logged@example.com']);
    assert.deepEqual(await addresses(`state=dead&${ada}`), []);
    assert.deepEqual(await addresses(`${ada}`), ['ada.logged@example.com']);
    assert.deepEqual(await addresses('to=ADA.LOGGED@example.com'), ['ada.logged@example.com']);
    assert.deepEqual(await addresses(`template=reset&${ada}`), []);
    assert.equal((await addresses('template=verify&perPage=2')).length, 2);
  });
});
