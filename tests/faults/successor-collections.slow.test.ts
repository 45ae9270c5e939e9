import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, createClient } from '../harness/clients/client.ts';
import { type LiveClient, openLive } from '../harness/clients/live-client.ts';
import { file, multipart } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, listAt, textAt } from '../harness/json.ts';
import { createGround, type Stack, startStack } from '../harness/stacks/stack.ts';

const open = { list_rule: null, view_rule: null, create_rule: null, update_rule: null, delete_rule: null };
const fields = [
  { name: 'text', type: 'text' },
  { name: 'scan', type: 'file' },
];

/** Where a row's requests go. */
interface Sides {
  readonly path: string;
  /** An admin's client at the replica that does not know the successor yet. */
  readonly late: Client;
  /** The same without a token. */
  readonly guest: Client;
  /** An admin's client at the replica that replaced the collection. */
  readonly other: Client;
}

/** A write to a collection whose name another one had before, at a replica that still knows that one. */
interface Row {
  readonly name: string;
  /** The successor's members that differ. */
  readonly successor?: object;
  /** Whether the first one goes by a rename. */
  readonly isRenamed?: true;
  write(sides: Sides): Promise<void>;
  /** What a subscription that resumes from before gets. */
  readonly told: readonly string[];
}

const second = { text: 'of the second' };

const rows: readonly Row[] = [
  {
    name: 'a create',
    write: async ({ late, path }) => void (await late.post(path, second)),
    told: ['create of the second'],
  },
  {
    name: 'a create after a rename',
    isRenamed: true,
    write: async ({ late, path }) => void (await late.post(path, second)),
    told: ['create of the second'],
  },
  {
    name: 'a PUT',
    write: async ({ late, path }) => void (await late.send('PUT', `${path}/chosen`, { body: second })),
    told: ['create of the second'],
  },
  {
    name: 'a batch',
    async write({ late, path }) {
      const operations = [{ op: 'create', collection: path.slice('/api/v1/'.length), data: second }];
      assert.equal((await late.send('POST', '/api/v1/batch', { body: { operations } })).status, 200);
    },
    told: ['create of the second'],
  },
  {
    name: 'an update',
    async write({ late, other, path }) {
      const { id } = await other.post(path, second);
      await late.patch(`${path}/${id}`, { text: 'changed' });
    },
    told: ['create of the second', 'update changed'],
  },
  {
    name: 'a delete',
    async write({ late, other, path }) {
      await other.send('PUT', `${path}/chosen`, { body: second });
      await late.delete(`${path}/chosen`);
    },
    told: ['create of the second', 'delete chosen'],
  },
  {
    name: 'a create that only the first one allowed',
    successor: { create_rule: '' },
    async write({ guest, late, path }) {
      assert.equal((await guest.send('POST', path, { body: { text: 'of a guest' } })).status, 403);
      await late.post(path, second);
    },
    told: ['create of the second'],
  },
  {
    name: 'a create with history',
    successor: { history_enabled: true },
    async write({ late, path }) {
      const { id } = await late.post(path, second);
      const { json, text } = await late.get(`${path}/${id}/history`);
      assert.equal(listAt(json, 'data.data').length, 1, text);
    },
    told: ['create of the second'],
  },
  {
    name: 'an upload',
    async write({ late, path }) {
      const send = () =>
        late.send('POST', path, multipart(file('scan', 'a.txt', 'bytes'), { name: 'text', content: 'u' }));
      const first = await send();
      // Its bytes may have gone to the first collection's place, which is removed.
      const { status, text, json } = first.status === 409 ? await send() : first;
      assert.equal(status, 201, text);
      const [id, name] = [textAt(json, 'data.id'), textAt(json, 'data.scan')];
      const stored = await late.get(`/api/v1/files/${path.split('/').at(-1)}/${id}/${name}`);
      assert.deepEqual([stored.status, stored.text], [200, 'bytes']);
    },
    told: ['create u'],
  },
];

test('writes know which of two collections with one name they are for [collections §9.2]', async (t) => {
  await using ground = await createGround();
  await using here = await startStack({ topology: 'one', ground });
  await using there = await startStack({ topology: 'one', beside: ground });
  const [late, other] = [await here.admin(), await there.admin()];

  for (const [n, { name: title, successor = {}, isRenamed, write, told }] of rows.entries())
    await t.test(`${title} reaches the second one's followers, and only them [realtime §4.3]`, async () => {
      const name = `heirs_${n}`;
      const path = `/api/v1/${name}`;
      await other.define(name, fields, open);
      await using before = await openLive(here.url, [{ collection: name }]);
      const [ready] = await before.arrived('ready');
      await late.post(path, { text: 'of the first' });
      await before.arrived('create');

      // Without the bus, the late replica looks for changes every 5 s.
      await ground.bus.freeze();
      try {
        if (isRenamed) await other.patch(`/api/v1/collections/${name}`, { name: `former_${n}` });
        else await other.delete(`/api/v1/collections/${name}`);
        await other.define(name, fields, { ...open, ...successor });
        await write({ path, late, other, guest: createClient(here.url) });
      } finally {
        await ground.bus.thaw();
      }

      await using live = await resume(here, name, at(ready?.data, 'cursor'));
      await eventually('all of the second one has come, and nothing else', () => {
        assert.deepEqual(toldOf(live), told);
        return true;
      });
      await eventually('who followed the first one knows that it is gone', () => {
        const [, end] = toldOf(before);
        return end === 'resync schema' || end === 'error not_found';
      });
      if (toldOf(before)[1] === 'error not_found') return;
      await late.post(path, { text: 'later' });
      await eventually('and follows the second one', () => toldOf(before).at(-1) === 'create later');
    });
});

/** Opens a connection from a cursor, as soon as the replica has the bus again. */
const resume = (stack: Stack, collection: string, after: unknown): Promise<LiveClient> =>
  eventually('the replica reads the stream', async () => {
    const live = await openLive(stack.url, [{ collection, after }]);
    if (live.status === 200) return live;
    assert.equal(live.status, 503, live.text);
    return undefined;
  });

/** What a client was told, without `ready` and heartbeats. */
const toldOf = ({ messages }: Pick<LiveClient, 'messages'>): string[] =>
  messages
    .filter(({ type }) => type !== 'ready' && type !== 'heartbeat')
    .map(({ type, data }) => `${type} ${toldBy(data)}`);

const toldBy = (data: JsonObject): string => String(at(data, 'record.text') ?? data.id ?? data.reason ?? data.code);
