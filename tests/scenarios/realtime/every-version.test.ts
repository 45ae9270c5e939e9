import assert from 'node:assert/strict';
import { type LiveClient, openLive } from '../../harness/clients/live-client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, type JsonObject } from '../../harness/json.ts';
import { onEachTopology } from '../../harness/stacks/target.ts';

/** A collection that is created, or changed, right before its records. */
interface Round {
  readonly name: string;
  readonly field: object;
  /** The definition that replaces the first one before the records are written. */
  readonly change?: object;
}

const text = (more: object = {}) => ({ name: 'text', type: 'text', ...more });
const rounds: readonly Round[] = [
  { name: 'created', field: text() },
  { name: 'encrypted', field: text({ options: { encrypted: true } }) },
  { name: 'changed', field: text(), change: { list_rule: 'text != "hidden"' } },
];
/** How often each kind runs. One round may begin in a second's first half, another one at its end. */
const repetitions = 8;

onEachTopology('every record version arrives', async (t, target) => {
  const admin = await target.admin();

  for (const { name, field, change } of rounds)
    await t.test(`in the second in which its collection was ${name} [realtime §3.2]`, async () => {
      for (let n = 0; n < repetitions; n += 1) {
        const collection = `${name}_${n}`;
        const path = `/api/v1/collections`;
        await admin.post(path, { name: collection, type: 'base', list_rule: null, view_rule: null, fields: [field] });
        if (change) await admin.patch(`${path}/${collection}`, change);
        await using live = await openLive(target.url, [{ collection }]);
        await live.arrived('ready');
        const { id } = await admin.create(collection, { text: 'a' });
        const own = `/api/v1/${collection}/${id}`;
        for (const value of ['b', 'c', 'd']) await admin.patch(own, { text: value });
        await admin.delete(own);
        await live.arrived('delete');
        assert.deepEqual(toldOf(live), ['create a', 'update b', 'update c', 'update d', `delete ${id}`], collection);
      }
    });

  await t.test("a write under its collection's former name arrives under the new one [realtime §4.3]", async () => {
    await admin.post('/api/v1/collections', { name: 'letters', type: 'base', list_rule: null, fields: [text()] });
    await using before = await openLive(target.url, [{ collection: 'letters' }]);
    const [ready] = await before.arrived('ready');
    const { id } = await admin.create('letters', { text: 'a' });
    await admin.patch('/api/v1/collections/letters', { name: 'mails' });
    await admin.patch(`/api/v1/mails/${id}`, { text: 'b' });
    await using live = await openLive(target.url, [{ collection: 'mails', after: at(ready?.data, 'cursor') }]);
    await live.arrived('update');
    assert.deepEqual(toldOf(live), ['create a', 'update b']);
  });

  await t.test("a dropped collection's records do not reach its successor [realtime §4.3]", async () => {
    const make = () =>
      admin.post('/api/v1/collections', { name: 'again', type: 'base', list_rule: null, fields: [text()] });
    await make();
    await using before = await openLive(target.url, [{ collection: 'again' }]);
    const [ready] = await before.arrived('ready');
    await admin.create('again', { text: 'of the first' });
    await admin.delete('/api/v1/collections/again');
    await make();
    await admin.create('again', { text: 'of the second' });
    await using live = await openLive(target.url, [{ collection: 'again', after: at(ready?.data, 'cursor') }]);
    assert.equal(live.status, 200, live.text);
    await eventually('the second one has come, and nothing else', () => {
      assert.deepEqual(toldOf(live), ['create of the second']);
      return true;
    });
  });
});

/** What a client was told, without `ready` and heartbeats. */
const toldOf = ({ messages }: Pick<LiveClient, 'messages'>): string[] =>
  messages
    .filter(({ type }) => type !== 'ready' && type !== 'heartbeat')
    .map(({ type, data }) => `${type} ${String(at(data as JsonObject, 'record.text') ?? data.id ?? data.reason)}`);
