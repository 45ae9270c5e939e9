import type { LiveCaller } from '@recordbus/live';
import { collectionsArbitrary, filterArbitrary, recordsArbitrary, rulesArbitrary } from '@recordbus/query/testing';
import { type Collection, type Rule, tableOf } from '@recordbus/schema';
import fc from 'fast-check';
import type { RecordsFixture } from './records-fixture.ts';

/** A subscription's members other than the collection. */
export interface Following {
  readonly filter?: string | undefined;
  readonly fields?: string | undefined;
  readonly expand?: string | undefined;
}

/** Random collections with rules, their first records, their readers, and the subscriptions. */
export interface LiveWorld {
  readonly collections: readonly Collection[];
  readonly callers: readonly LiveCaller[];
  followings(collection: Collection): readonly Following[];
  fill(records: RecordsFixture): Promise<void>;
}

const sample = <T>(arbitrary: fc.Arbitrary<T>, seed: number): T => {
  const [one] = fc.sample(arbitrary, { numRuns: 1, seed });
  if (one === undefined) throw new Error('nothing was drawn');
  return one;
};

/** Makes a seed's world. */
export function makeWorld(seed: number): LiveWorld {
  const plain = Object.fromEntries(
    Object.entries(sample(collectionsArbitrary, seed)).map(([name, one]) => [name, completed(one)]),
  );
  const ruled = steady(sample(rulesArbitrary(plain), seed));
  const other = steady(sample(rulesArbitrary(plain), seed + 1));
  const collections = Object.values(ruled).map((one) => ({
    ...one,
    rules: { ...one.rules, list: callerRule(one, plain, seed) ?? other[one.name]?.rules.view ?? null },
  }));
  const byName = Object.fromEntries(collections.map((one) => [one.name, one]));
  const items = sample(recordsArbitrary(plain), seed);
  return {
    collections,
    callers: callersOf(collections),
    followings: (collection) => followingsOf(collection, byName, seed),
    async fill({ database }) {
      for (const { name, fields } of collections) {
        const rows = (items[name] ?? []).map(({ created, updated, anonymous, ...rest }) => ({
          ...Object.fromEntries(fields.filter(({ options }) => options.multiple).map((field) => [field.name, []])),
          ...rest,
          ...(anonymous === undefined ? {} : { is_anonymous: anonymous, token_version: 0, totp_enabled: false }),
          created_at: created,
          updated_at: updated,
          _revision: 0,
        }));
        const table = tableOf({ name });
        const text = `insert into ${table} select * from json_populate_recordset(null::${table}, $1)`;
        await database.query({ text, values: [JSON.stringify(rows)] });
      }
    },
  };
}

/** Replaces moments in this second by moments on this day, since time passes between judging and reading a record. */
const steadyText = (text: string): string => text.replace(/@(now|yesterday|tomorrow)\b/g, '@todayStart');
const steadyRule = (rule: Rule | undefined): Rule => (typeof rule === 'string' ? steadyText(rule) : null);

/** Collections whose rules do not change from one second to the next. */
const steady = (collections: Readonly<Record<string, Collection>>): Readonly<Record<string, Collection>> =>
  Object.fromEntries(
    Object.entries(collections).map(([name, { rules, fields, ...rest }]) => [
      name,
      {
        ...rest,
        rules: { ...rules, view: steadyRule(rules.view) },
        fields: fields.map((field) => ({ ...field, viewRule: steadyRule(field.viewRule) })),
      },
    ]),
  );

/** A collection with tables: an auth collection has its implicit fields, and there are no views. */
function completed(collection: Collection): Collection {
  if (collection.type !== 'auth') return { ...collection, type: 'base' };
  const implicit = [
    { id: 'email', name: 'email', type: 'email', required: false, system: true, options: {} },
    { id: 'verified', name: 'verified', type: 'bool', required: false, system: true, options: {} },
  ];
  return { ...collection, fields: [...implicit, ...collection.fields] };
}

/** For about half the collections: a rule that leads from a record to accounts. */
function callerRule(
  { name, fields }: Collection,
  collections: Readonly<Record<string, Collection>>,
  seed: number,
): string | undefined {
  const leads = fields.filter((field) => collections[field.collection ?? '']?.type === 'auth');
  const own = leads.map((field) => `${field.name} = @request.auth.id`);
  const referring = Object.values(collections).flatMap((other) => {
    const relation = other.fields.find((field) => field.collection === name && field.options.multiple !== true);
    const account = other.fields.find((field) => collections[field.collection ?? '']?.type === 'auth');
    if (!relation || !account) return [];
    const caller = `${account.name} = @request.auth.id`;
    return [
      `exists(${other.name}, ${relation.name} = record.id && ${caller})`,
      `${other.name}_via_${relation.name}.${caller} || id = @request.auth.id`,
    ];
  });
  const all = [...own, ...referring];
  return (seed + name.length) % 2 === 0 ? all[seed % all.length] : undefined;
}

/** A guest, an admin, and accounts, some of which do not exist. */
function callersOf(collections: readonly Collection[]): LiveCaller[] {
  const accounts = collections.filter(({ type }) => type === 'auth').map(({ name }) => name);
  const users = accounts.flatMap((collection, index) =>
    (index === 0 ? [0, 1, 2, 9] : [0]).map((n) => {
      const id = `${collection.charAt(0)}${n}`;
      const about = { email: 'A@x.org', verified: n === 0, anonymous: false, impersonatedBy: null };
      return { type: 'user' as const, id, collection, ...about };
    }),
  );
  return [
    { principal: { type: 'guest', rejectedToken: false }, headers: { h: 'a' }, query: { q: '1' } },
    { principal: { type: 'admin', id: 'a1', email: 'a@x.org' }, headers: {}, query: {} },
    ...users.map(
      (principal, n): LiveCaller =>
        n % 2 ? { principal, headers: { h: 'b' }, query: {} } : { principal, headers: {}, query: { q: 'a' } },
    ),
  ];
}

function followingsOf(
  collection: Collection,
  collections: Readonly<Record<string, Collection>>,
  seed: number,
): Following[] {
  const relations = collection.fields.filter((field) => field.collection !== undefined).map(({ name }) => name);
  const names = collection.fields.map(({ name }) => name);
  const filters = fc.sample(filterArbitrary(collection, collections), { numRuns: 3, seed }).map(steadyText);
  const expand = relations[0];
  return [
    {},
    ...filters.map((filter) => ({ filter })),
    { fields: names.slice(0, 2).join(',') },
    ...(expand === undefined ? [] : [{ expand }, { expand, fields: `*,expand.${expand}.id`, filter: filters[0] }]),
  ];
}
