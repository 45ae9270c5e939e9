import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cutMembers } from '@recordbus/bus';
import { createValueCipher } from '@recordbus/crypto';
import type { EventVerdict, LiveCaller, LiveEvent, LiveRequest } from '@recordbus/live';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const guest: LiveCaller = { principal: { type: 'guest', rejectedToken: false }, headers: {}, query: {} };
const rules = (list: string) => ({ list, view: list, create: null, update: null, delete: null });

describe('judging by stored records', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    const secret = { name: 'secret', options: { encrypted: true } };
    records = await startRecords(
      [
        testCollection('vault', [{ name: 'title' }, secret], { rules: rules('title != "hidden"') }),
        testCollection('hushed', [{ name: 'title' }, { ...secret, viewRule: '' }]),
        testCollection('posts', [{ name: 'title' }], { rules: rules('title != "hidden"') }),
        testCollection('open', [{ name: 'title' }]),
      ],
      { cipher: createValueCipher('a passphrase of a test') },
    );
  });
  after(() => records?.stop());

  const write = async (method: string, path: string, body?: unknown) => {
    const answer = await records.send(method, `/api/${path}`, { as: 'admin', body });
    assert.ok(answer.status < 300, answer.text);
    return answer;
  };
  let lastEvent = 0;
  const takeEvents = async (): Promise<LiveEvent[]> => {
    const text = 'select id, body from system.outbox where id > $1 order by id';
    const rows = await records.database.query<{ id: number; body: string }>({ text, values: [lastEvent] });
    lastEvent = rows.at(-1)?.id ?? lastEvent;
    return rows.map(({ body }) => {
      const { id, event, version, schema } = JSON.parse(body);
      return { id, verb: event.split('.')[1], version, schema, data: cutMembers(body).get('data') };
    });
  };
  const judge = async (request: LiveRequest, events: readonly LiveEvent[]): Promise<readonly EventVerdict[]> => {
    const [opened] = await records.live.open([{ request, caller: guest }]);
    assert.ok(opened && 'plan' in opened);
    const batch = { plan: opened.plan, events, client: 'test', callers: [opened.values] };
    const verdicts = await records.live.judge(batch);
    assert.ok(!verdicts.isStale);
    return verdicts.events;
  };
  const shownIn = (verdict: EventVerdict | undefined) => verdict?.records.map(({ json }) => JSON.parse(json));

  it("shows each version's encrypted value as a get did", async () => {
    await takeEvents();
    const { record } = await write('POST', 'vault', { title: 'a', secret: 's' });
    const get = await records.send('GET', `/api/vault/${record.id}`);
    await write('PATCH', `vault/${record.id}`, { secret: 't' });
    await write('PATCH', `vault/${record.id}`, { title: 'hidden' });
    await write('DELETE', `vault/${record.id}`);
    const events = await takeEvents();
    for (const { data } of events) assert.doesNotMatch(data ?? '', /secret/);
    const verdicts = await judge({ collection: 'vault' }, events);
    assert.equal(verdicts[0]?.records[0]?.json, get.text.slice('{"data":'.length, -1));
    assert.deepEqual(
      verdicts.map((verdict) => shownIn(verdict)?.[0]?.secret),
      ['s', 't', undefined, undefined],
    );
    assert.deepEqual(
      verdicts.map(({ before, now }) => [before, now]),
      [
        [[], 'all'],
        ['all', 'all'],
        ['all', []],
        [[], []],
      ],
    );
  });

  it('reads an encrypted value that is no longer kept from the record with the same version', async () => {
    await takeEvents();
    const { record } = await write('POST', 'vault', { title: 'a', secret: 's' });
    await records.database.query({ text: 'update system.outbox set sealed = null', values: [] });
    const events = await takeEvents();
    const [first] = await judge({ collection: 'vault' }, events);
    assert.equal(shownIn(first)?.[0].secret, 's');
    await write('PATCH', `vault/${record.id}`, { secret: 't' });
    const [again, later] = await judge({ collection: 'vault' }, [...events, ...(await takeEvents())]);
    assert.deepEqual([again?.isLost, later?.isLost, shownIn(later)?.[0].secret], [true, undefined, 't']);
  });

  it('does not read the table if the encrypted field is not shown', async () => {
    await takeEvents();
    const { record } = await write('POST', 'hushed', { title: 'a', secret: 's' });
    await write('DELETE', `hushed/${record.id}`);
    for (const [collection, fields] of [
      ['hushed', undefined],
      ['vault', 'title'],
    ] as const) {
      const { record: made } = await write('POST', collection, { title: 'a', secret: 's' });
      await write('DELETE', `${collection}/${made.id}`);
      const [create] = await judge({ collection, fields }, (await takeEvents()).slice(-2));
      assert.deepEqual([create?.now, Object.keys(shownIn(create)?.[0]).includes('secret')], ['all', false]);
    }
  });

  it('reads a large event from the database, or else the record', async () => {
    await takeEvents();
    const { record } = await write('POST', 'posts', { title: 'large' });
    const [event] = (await takeEvents()) as [LiveEvent];
    const { data: _data, ...large } = event;
    const body = JSON.stringify({ id: event.id, data: JSON.parse(event.data ?? '') });
    const [unknown] = await judge({ collection: 'posts' }, [large]);
    assert.equal(unknown?.isLost, true);
    const [named] = await judge({ collection: 'posts' }, [{ ...large, record: record.id }]);
    assert.deepEqual(shownIn(named), [record]);
    await records.database.query({
      text: 'insert into system.large_events (id, body) values ($1, $2)',
      values: [event.id, body],
    });
    await write('DELETE', `posts/${record.id}`);
    const [stored] = await judge({ collection: 'posts' }, [large]);
    assert.deepEqual(shownIn(stored), [record]);
  });

  it('shows the stored record for an event with another shape, unless it was written again', async () => {
    await takeEvents();
    const { record } = await write('POST', 'open', { title: 'a' });
    const { record: other } = await write('POST', 'open', { title: 'b' });
    await write('PATCH', `open/${other.id}`, { title: 'c' });
    await write('DELETE', `open/${other.id}`);
    const events = await takeEvents();
    await changeFields('open', 'add column n double precision not null default 5', [
      { ...field, id: 'title', name: 'title', type: 'text' },
      { ...field, id: 'n', name: 'n', type: 'number' },
    ]);
    const all = await judge({ collection: 'open' }, events);
    assert.deepEqual(shownIn(all[0]), [{ ...record, n: 5 }].map(inOrder));
    // The second record's states between its create and its delete are gone.
    assert.deepEqual(
      all.map(({ isLost }) => isLost),
      [undefined, true, true, undefined],
    );
    assert.equal(all[3]?.before, 'all');
    const filtered = await judge({ collection: 'open', filter: 'title != "x"' }, events);
    assert.deepEqual(
      filtered.map(({ isLost }) => isLost),
      [undefined, true, true, true],
    );
    const recent = await judge({ collection: 'open', filter: 'created > 0' }, events);
    assert.deepEqual(
      recent.map(({ isLost }) => isLost),
      [undefined, true, true, undefined],
    );
    const names = 'rename column title to former; alter table records.open rename column n to title';
    await changeFields('open', names, [
      { ...field, id: 'title', name: 'former', type: 'text' },
      { ...field, id: 'n', name: 'title', type: 'number' },
    ]);
    const { record: fresh } = await write('POST', 'open', { title: 7, former: 'f' });
    const verdicts = await judge({ collection: 'open', filter: 'title > 0' }, [...events, ...(await takeEvents())]);
    assert.deepEqual(
      shownIn(verdicts[0])?.map(({ title, former }) => [title, former]),
      [[5, 'a']],
    );
    assert.deepEqual(shownIn(verdicts[4]), [fresh]);
  });

  it('loses an event whose record was encrypted after the plan was made', async () => {
    await takeEvents();
    await write('POST', 'posts', { title: 'a' });
    const events = (await takeEvents()).map((event) => ({ ...event, schema: 'another' }));
    const [stored] = await judge({ collection: 'posts' }, events);
    assert.equal(shownIn(stored)?.[0].title, 'a');
    // Without a new schema version, this is a change between the version check and the read.
    const encrypted = [{ ...field, id: 'title', name: 'title', type: 'text', options: { encrypted: true } }];
    await records.database.query({
      text: "update system.collections set fields = $1 where name = 'posts'",
      values: [JSON.stringify(encrypted)],
    });
    await records.database.query({ text: "update records.posts set title = 'enc:1:x'", values: [] });
    const [late] = await judge({ collection: 'posts' }, events);
    assert.equal(late?.isLost, true);
  });

  const field = { required: false, system: false, options: {} };
  const inOrder = ({ id, title, n, created, updated }: Record<string, unknown>) => ({ id, title, n, created, updated });

  async function changeFields(name: string, change: string, fields: readonly object[]): Promise<void> {
    const { database } = records;
    await database.query({ text: `alter table records.${name} ${change}`, values: [] });
    await database.query({
      text: 'update system.collections set fields = $2 where name = $1',
      values: [name, JSON.stringify(fields)],
    });
    await database.query({
      text: "update system.versions set version = version + 1 where name = 'schema'",
      values: [],
    });
    // Loads the schema, as a bus notice does.
    await records.live.isCurrent([]);
  }
});
