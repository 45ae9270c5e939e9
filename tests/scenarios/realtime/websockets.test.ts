import assert from 'node:assert/strict';
import { openSocket } from '../../harness/clients/live-socket.ts';
import { eventually } from '../../harness/eventually.ts';
import { onEachTopology } from '../../harness/stacks/target.ts';
import { channelPath, setChannels } from './channels.ts';
import { createNotes, join, withoutHeartbeats } from './notes.ts';

const notes = { type: 'subscribe', collection: 'notes' };

onEachTopology('WebSockets follow changes', async (t, target) => {
  await createNotes(target);
  const admin = await target.admin();
  const [ada, bob] = [await join(target, 'ada'), await join(target, 'bob')];

  await t.test('subscribe, changes, unsubscribe, ping [realtime §1.3]', async () => {
    await using socket = await openSocket(target.url);
    assert.equal(socket.protocol, 'recordbus.v1');
    socket.send({ ...notes, id: 'a', snapshot: { perPage: 1 } });
    await socket.arrived('snapshot');
    const note = await admin.create('notes', { text: 'a' });
    const [created] = await socket.arrived('create');
    assert.equal(created?.data.sub, 'a');
    assert.deepEqual(created?.data.record, note);
    socket.send({ type: 'unsubscribe', id: 'a' });
    await socket.arrived('unsubscribed');
    await admin.create('notes', { text: 'b' });
    socket.send({ type: 'ping' });
    await socket.arrived('pong');
    assert.deepEqual(
      withoutHeartbeats(socket.messages).map(({ type }) => type),
      ['ready', 'snapshot', 'create', 'unsubscribed', 'pong'],
    );
    socket.send({ ...notes, after: created?.data.cursor });
    await socket.arrived('create', 2);
    assert.equal(socket.messages.filter(({ type }) => type === 'ready').length, 1);
  });

  await t.test('bad messages get errors, and the connection stays open [realtime §1.3]', async () => {
    await using socket = await openSocket(target.url);
    for (const bad of [
      '{',
      '[]',
      '1',
      '{"type":"nothing"}',
      '{"type":"unsubscribe"}',
      '{"type":"unsubscribe","id":"x"}',
    ])
      socket.sendRaw(bad);
    socket.send({ type: 'subscribe', collection: 'nowhere', id: 'n' });
    const errors = await socket.arrived('error', 7);
    assert.equal(errors.at(-1)?.data.sub, 'n');
    assert.deepEqual(
      errors.map(({ data }) => data.code),
      [...Array(6).fill('malformed_request'), 'not_found'],
    );
    socket.send(notes);
    await socket.arrived('ready');
    for (let n = 0; n < 100; n += 1) socket.send({ ...notes, id: `n${n}` });
    const tooMany = (await socket.arrived('error', 8)).at(-1);
    assert.match(JSON.stringify(tooMany), /at most 100/);
    assert.equal(tooMany?.data.sub, 'n99');
    socket.send(notes);
    const unnamed = (await socket.arrived('error', 9)).at(-1);
    assert.ok(unnamed && !Object.hasOwn(unnamed.data, 'sub'), 'an error names only an id of the client');
  });

  await t.test("a connection's subscriptions have at most 1 MiB [realtime §2.4]", async () => {
    await using socket = await openSocket(target.url);
    const wide = { type: 'subscribe', collection: 'tasks', fields: `title,${'x'.repeat(16_000)}` };
    for (let n = 0; n < 80; n += 1) socket.send({ ...wide, id: `n${n}` });
    const errors = await socket.arrived('error', 15);
    assert.match(JSON.stringify(errors[0]), /at most 1048576 characters/);
    assert.equal(errors[0]?.data.sub, 'n65');
    socket.send({ type: 'unsubscribe', id: 'n0' });
    await socket.arrived('unsubscribed');
    socket.send({ ...wide, id: 'again' });
    socket.send({ type: 'ping' });
    await socket.arrived('pong');
    assert.equal(socket.messages.filter(({ type }) => type === 'error').length, 15);
  });

  const closes: readonly (readonly [string, string | Uint8Array, number])[] = [
    ['a binary frame', new Uint8Array([1, 2]), 1003],
    ['a message of more than 64 KiB', `{"type":"subscribe","collection":"${'x'.repeat(2 ** 16)}"}`, 1009],
  ];
  for (const [name, data, code] of closes)
    await t.test(`${name} closes with ${code} [realtime §1.4]`, async () => {
      await using socket = await openSocket(target.url);
      socket.sendRaw(data);
      await eventually('the close', () => socket.closed);
      assert.equal(socket.closed?.code, code);
    });

  await t.test('a guest signs in on the connection, and continues with a new token [realtime §1.3]', async () => {
    await using socket = await openSocket(target.url);
    socket.send({ type: 'subscribe', collection: 'tasks', id: 'tasks' });
    await socket.arrived('ready');
    socket.send({ type: 'auth', token: ada.token });
    await socket.arrived('authenticated');
    await admin.create('tasks', { title: 'of ada', owner: ada.id });
    await socket.arrived('create');
    socket.send({ type: 'auth', token: bob.token });
    socket.send({ type: 'auth', token: 'nonsense' });
    const errors = await socket.arrived('error', 2);
    assert.deepEqual(
      errors.map(({ data }) => data.code),
      ['other_account', 'unauthenticated'],
    );
    await ada.client.send('POST', '/api/v1/auth/people/logout');
    await socket.arrived('revoked');
    await eventually('the close', () => socket.closed);
    assert.deepEqual(socket.closed, { code: 4401, reason: 'revoked' });
  });

  await t.test('a channel for guests ends when its guest signs in [realtime §7.6]', async () => {
    await setChannels(admin, [
      { pattern: 'guests', publish_rule: null, subscribe_rule: '@request.auth.id = ""' },
      { pattern: 'all', publish_rule: null, subscribe_rule: null },
    ]);
    await using socket = await openSocket(target.url);
    socket.send({ type: 'subscribe', channel: 'all', id: 'all' });
    socket.send({ type: 'subscribe', channel: 'guests', id: 'guests' });
    await socket.arrived('ready');
    socket.send({ type: 'auth', token: bob.token });
    await socket.arrived('authenticated');
    const [ended] = await socket.arrived('error');
    assert.deepEqual([ended?.data.sub, ended?.data.code], ['guests', 'forbidden']);
    for (const channel of ['guests', 'all'])
      await bob.client.send('POST', channelPath(channel), { body: { data: channel } });
    const [got] = await socket.arrived('broadcast');
    assert.equal(got?.data.data, 'all');
  });

  await t.test('a ticket opens one connection, once [realtime §1.5]', async () => {
    const { ticket } = await bob.client.post('/api/v1/realtime/ticket', {}, 200);
    await using socket = await openSocket(target.url, { query: `?ticket=${ticket}` });
    socket.send({ type: 'subscribe', collection: 'tasks' });
    await socket.arrived('ready');
    await admin.create('tasks', { title: 'of bob', owner: bob.id });
    await socket.arrived('create');
    await assert.rejects(openSocket(target.url, { query: `?ticket=${ticket}` }), /refused with 401/);
    await assert.rejects(openSocket(target.url, { query: '?ticket=nonsense' }), /refused with 401/);
  });
});
