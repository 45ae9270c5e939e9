import assert from 'node:assert/strict';
import { cutMembers } from '@recordbus/bus';
import { createValueCipher } from '@recordbus/crypto';
import type { Callers, EventVerdict, LiveCaller, LiveEvent, LivePlan, LiveRequest } from '@recordbus/live';
import { idsOf, samplesFor } from '@recordbus/query/testing';
import type { Collection } from '@recordbus/schema';
import fc from 'fast-check';
import { type Following, type LiveWorld, makeWorld } from './live-world.ts';
import { type RecordsFixture, startRecords } from './records-fixture.ts';

/** How much was compared. */
export interface Compared {
  /** Records that a caller received, including those that the caller saw only in part. */
  shown: number;
  hidden: number;
  entered: number;
  left: number;
  candidates: number;
}

interface Subject {
  readonly records: RecordsFixture;
  readonly world: LiveWorld;
  readonly compared: Compared;
}

/** A written event, and the record that it is about. */
interface Written {
  readonly event: LiveEvent;
  readonly collection: string;
  readonly id: string;
}

/** A collection's records by id that each caller reads with each subscription, or a refusal's status. */
type Readable = readonly (readonly (ReadonlyMap<string, unknown> | number)[])[];

/**
 * Compares delivered records with readable ones, in a seed's world. After some writes, each caller who receives a
 * record reads exactly the same with a list or a get, and a caller who cannot read it receives none.
 */
export async function compareDelivered(seed: number, writes: number): Promise<Compared> {
  const world = makeWorld(seed);
  const cipher = createValueCipher('a passphrase of a test');
  const records = await startRecords(world.collections, { hasKeys: false, cipher });
  const compared: Compared = { shown: 0, hidden: 0, entered: 0, left: 0, candidates: 0 };
  const subject = { records, world, compared };
  try {
    await world.fill(records);
    const takeEvents = createTakeEvents(records);
    const random = fc.sample(fc.nat(), { numRuns: writes * 40, seed });
    const draw = (below: number) => (random.pop() ?? 0) % below;
    for (let written = 0; written < writes; written += 1) {
      const collection = world.collections[draw(world.collections.length)] as Collection;
      const before = await readAll(subject, collection);
      await write(subject, collection, draw);
      const events = await takeEvents();
      for (const [name, those] of Map.groupBy(events, (one) => one.collection)) {
        const of = world.collections.find((one) => one.name === name) as Collection;
        const now = await readAll(subject, of);
        await compareLists(subject, of, those, { before: of === collection ? before : undefined, now });
        await compareGets(subject, of, those);
      }
    }
  } catch (error) {
    throw new Error(`seed ${seed}, ${JSON.stringify(world.collections.map(rulesOf))}`, { cause: error });
  } finally {
    await records.stop();
  }
  return compared;
}

const rulesOf = ({ name, rules, fields }: Collection) => ({
  name,
  list: rules.list,
  view: rules.view,
  fields: fields.map((field) => [field.name, field.type, field.viewRule ?? null]),
});

/** Returns a function that takes the events from writes since its last call. */
function createTakeEvents({ database }: RecordsFixture): () => Promise<Written[]> {
  let last = 0;
  return async () => {
    const text = 'select id, body from system.outbox where id > $1 order by id';
    const rows = await database.query<{ id: number; body: string }>({ text, values: [last] });
    last = rows.at(-1)?.id ?? last;
    return rows.map(({ body }) => {
      const { id, event, version, schema, collection, data } = JSON.parse(body);
      const verb: LiveEvent['verb'] = event.split('.')[1];
      const given = { id, verb, version, schema, data: cutMembers(body).get('data') };
      return { event: given, collection, id: data.record.id };
    });
  };
}

/** Types whose random samples a write accepts. */
const written = new Set(['text', 'number', 'bool', 'date', 'json', 'geoPoint', 'select', 'vector', 'relation']);

/** Creates, changes or deletes a random record, as an admin. */
async function write({ records }: Subject, { name, type, fields }: Collection, draw: (below: number) => number) {
  const ids = idsOf(name);
  const id = ids[draw(ids.length)] as string;
  const values = fields
    .filter((field) => written.has(field.type) && !field.system)
    .filter(() => draw(2) === 0)
    .map((field) => [field.name, draw(6) === 0 ? null : drawValue(field, draw)]);
  const body = Object.fromEntries(values);
  const kind = draw(5);
  const account = { email: `n${draw(1e9)}@x.org`, password: 'correct horse battery' };
  if (kind === 0) await records.send('DELETE', `/api/${name}/${id}`, { as: 'admin' });
  else if (kind === 1)
    await records.send('POST', `/api/${name}`, { as: 'admin', body: type === 'auth' ? { ...body, ...account } : body });
  else
    await records.send('PUT', `/api/${name}/${id}`, {
      as: 'admin',
      body: type === 'auth' ? { ...body, ...account } : body,
    });
}

function drawValue(field: Collection['fields'][number], draw: (below: number) => number): unknown {
  const { collection, options } = field;
  if (collection === undefined) {
    const samples = samplesFor(field);
    return samples[draw(samples.length)];
  }
  const ids = idsOf(collection);
  // Prefers the first ones, which are the callers' accounts.
  return options.multiple ? ids.slice(0, draw(3)) : ids[draw(4)];
}

/** Reads a collection in all ways. */
const readAll = ({ records, world }: Subject, collection: Collection): Promise<Readable> =>
  Promise.all(
    world
      .followings(collection)
      .map((following) => Promise.all(world.callers.map((caller) => readList(records, collection, following, caller)))),
  );

const parametersOf = ({ filter, fields, expand }: Following, { query }: LiveCaller): string =>
  new URLSearchParams(
    Object.entries({ ...query, filter, fields, expand }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  ).toString();

async function readList(records: RecordsFixture, { name }: Collection, following: Following, caller: LiveCaller) {
  const path = `/api/${name}?perPage=1000&skipTotal=1&${parametersOf(following, caller)}`;
  const answer = await records.send('GET', path, { as: caller.principal, headers: caller.headers });
  return answer.status === 200 ? new Map(answer.rows.map((row) => [row.id, row])) : answer.status;
}

/** A plan, and the callers who have it, by their numbers in the world. */
interface Group {
  readonly plan: LivePlan;
  readonly members: { readonly caller: number; readonly values: readonly unknown[] }[];
}

/** Opens a subscription for every caller; the refusal's status for those who get none. */
async function open({ records, world }: Subject, request: LiveRequest) {
  const results = await records.live.open(world.callers.map((caller) => ({ request, caller })));
  const groups = new Map<string, Group>();
  const refusals = new Map<number, number>();
  for (const [caller, result] of results.entries()) {
    if ('refusal' in result) refusals.set(caller, result.refusal.status);
    else {
      const group = groups.get(result.plan.key) ?? { plan: result.plan, members: [] };
      groups.set(result.plan.key, group);
      group.members.push({ caller, values: result.values });
    }
  }
  return { groups: [...groups.values()], refusals };
}

/** The message that a caller gets for an event. */
interface Delivered {
  readonly before: boolean;
  readonly now: boolean;
  readonly record: unknown;
  readonly changed: readonly string[] | undefined;
}

/** Judges events for a group's members. */
async function judge({ records, compared, world }: Subject, { plan, members }: Group, events: readonly Written[]) {
  const batch = { plan, events: events.map(({ event }) => event), client: 'test' };
  const verdicts = await records.live.judge({ ...batch, callers: members.map(({ values }) => values) });
  assert.ok(!verdicts.isStale);
  const candidates = plan.hasCandidates ? await records.live.candidates(batch) : undefined;
  const delivered = members.map((_member, position) =>
    verdicts.events.map((verdict) => deliveredTo(position, verdict)),
  );
  for (const [position, { caller }] of members.entries()) {
    const principal = world.callers[caller]?.principal;
    const isConcerned = delivered[position]?.some(({ before, now }) => before || now);
    if (!candidates || !isConcerned) continue;
    assert.ok(principal?.type === 'user' && candidates.includes(principal.id), 'a caller is not a candidate');
    compared.candidates += 1;
  }
  return delivered;
}

function deliveredTo(position: number, { before, now, records, isLost }: EventVerdict): Delivered {
  assert.ok(!isLost, 'no event is lost while the schema stays');
  const has = (callers: Callers) => callers === 'all' || callers.includes(position);
  const shown = records.filter(({ callers }) => has(callers));
  assert.equal(shown.length, has(now) ? 1 : 0, 'each caller for whom a record matches is shown it once');
  const [one] = shown;
  return { before: has(before), now: has(now), record: one && JSON.parse(one.json), changed: one?.changed };
}

async function compareLists(
  subject: Subject,
  collection: Collection,
  events: readonly Written[],
  { before, now }: { readonly before: Readable | undefined; readonly now: Readable },
): Promise<void> {
  const { world, compared } = subject;
  for (const [index, following] of world.followings(collection).entries()) {
    const { groups, refusals } = await open(subject, { collection: collection.name, ...following });
    for (const [caller, read] of (now[index] ?? []).entries())
      assert.equal(typeof read === 'number' ? read : undefined, refusals.get(caller), `refusal of ${following.filter}`);
    for (const group of groups) {
      const delivered = await judge(subject, group, events);
      for (const [position, { caller }] of group.members.entries())
        for (const [n, { event, id }] of events.entries()) {
          const got = delivered[position]?.[n] as Delivered;
          const about = `${event.verb} of ${collection.name} ${id}, ${JSON.stringify(following)}, ${JSON.stringify(world.callers[caller])}`;
          compareNow(compared, got, readableIn(now, index, caller).get(id), about);
          const isFixed = group.plan.crossed.length === 0;
          if (before && isFixed)
            assert.equal(got.before, readableIn(before, index, caller).has(id), `before: ${about}`);
          if (got.before !== got.now) compared[got.now ? 'entered' : 'left'] += 1;
        }
    }
  }
}

const readableIn = (readable: Readable, index: number, caller: number): ReadonlyMap<string, unknown> => {
  const found = readable[index]?.[caller];
  return found instanceof Map ? found : new Map();
};

function compareNow(compared: Compared, got: Delivered, readable: unknown, about: string): void {
  assert.deepEqual(got.record, readable, about);
  if (readable === undefined) {
    compared.hidden += 1;
    return;
  }
  compared.shown += 1;
  for (const name of got.changed ?? []) assert.ok(Object.hasOwn(readable as object, name), `${name} of ${about}`);
}

/** Compares subscriptions to single records with gets. */
async function compareGets(subject: Subject, collection: Collection, events: readonly Written[]): Promise<void> {
  const { records, world, compared } = subject;
  for (const one of events) {
    const { groups } = await open(subject, { collection: collection.name, record: one.id });
    for (const group of groups) {
      const delivered = await judge(subject, group, events);
      for (const [position, { caller: number }] of group.members.entries()) {
        const caller = world.callers[number] as LiveCaller;
        const path = `/api/${collection.name}/${one.id}?${parametersOf({}, caller)}`;
        const answer = await records.send('GET', path, { as: caller.principal, headers: caller.headers });
        for (const [n, { event, id }] of events.entries()) {
          const readable = id === one.id && answer.status === 200 ? answer.record : undefined;
          const about = `${event.verb} of record ${id} of ${collection.name}, ${JSON.stringify(caller)}`;
          compareNow(compared, delivered[position]?.[n] as Delivered, readable, about);
        }
      }
    }
  }
}
