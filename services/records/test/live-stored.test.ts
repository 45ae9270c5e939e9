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
      const { id, event, version } = JSON.parse(body);
      return { id, verb: event.split('.')[1], version, data: cutMembers(body).get('data') };
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

  it('shows an encrypted value as a get does, of the stored version', async () => {
    await takeEvents();
    const { record, version } = await write('POST', 'vault', { title: 'a', secret: 's' });
    const [event] = (await takeEvents()) as [LiveEvent];
    assert.doesNotMatch(event.data ?? '', /secret/);
    const [first] = await judge({ collection: 'vault' }, [event]);
    const get = await records.send('GET', `/api/vault/${record.id}`);
    assert.deepEqual([first?.version, first?.records[0]?.json], [version, get.text.slice('{"data":'.length, -1)]);
    assert.equal(get.record.secret, 's');
    const later = await write('PATCH', `vault/${record.id}`, { secret: 't' });
    const [again] = await judge({ collection: 'vault' }, [event]);
    assert.deepEqual([again?.version, shownIn(again)?.[0].secret], [later.version, 't']);
    await write('PATCH', `vault/${record.id}`, { title: 'hidden' });
    const [hidden] = await judge({ collection: 'vault' }, [event]);
    assert.deepEqual([hidden?.now, hidden?.records], [[], []]);
    await write('DELETE', `vault/${record.id}`);
    const [created, changed, left, gone] = await judge({ collection: 'vault' }, [event, ...(await takeEvents())]);
    for (const verdict of [created, changed, left, gone]) assert.deepEqual(verdict?.now, []);
    assert.deepEqual(
      [created, changed, left, gone].map((verdict) => verdict?.before),
      [[], 'all', 'all', []],
    );
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
    const { record, version } = await write('POST', 'posts', { title: 'large' });
    const [event] = (await takeEvents()) as [LiveEvent];
    const { data: _data, ...large } = event;
    const body = JSON.stringify({ id: event.id, data: JSON.parse(event.data ?? '') });
    const [unknown] = await judge({ collection: 'posts' }, [large]);
    assert.deepEqual([unknown?.now, unknown?.version], [[], version]);
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

  it('shows the stored record if the event is older than the schema', async () => {
    await takeEvents();
    const { record } = await write('POST', 'open', { title: 'a' });
    const events = await takeEvents();
    await changeFields('open', 'add column n double precision not null default 5', [
      { ...field, id: 'title', name: 'title', type: 'text' },
      { ...field, id: 'n', name: 'n', type: 'number' },
    ]);
    const [added] = await judge({ collection: 'open' }, events);
    assert.deepEqual(shownIn(added), [{ ...record, n: 5 }].map(inOrder));
    const retyped = 'alter column title type double precision using null';
    await changeFields('open', retyped, [
      { ...field, id: 'other', name: 'title', type: 'number' },
      { ...field, id: 'n', name: 'n', type: 'number' },
    ]);
    const { record: fresh } = await write('POST', 'open', { title: 7, n: 1 });
    const [fits] = (await takeEvents()) as [LiveEvent];
    const old = { ...fits, data: (fits.data ?? '').replace('"title":7', '"title":"a"') };
    const verdicts = await judge({ collection: 'open', filter: 'n > 0' }, [old, fits]);
    assert.deepEqual(verdicts.map(shownIn), [[fresh], [fresh]]);
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
    // Loads the schema, as a notice of the bus does.
    await records.live.isCurrent([]);
  }
});
