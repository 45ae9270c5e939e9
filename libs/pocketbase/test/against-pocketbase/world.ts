import type { PocketBaseField } from '../../src/rules/index.ts';
import type { Random } from './random.ts';

/** A random collection's field, in PocketBase's terms. */
export interface WorldField extends PocketBaseField {
  /** A relation's target, by name. */
  readonly target?: string;
}

export interface WorldCollection {
  readonly name: string;
  readonly type: 'base' | 'auth';
  readonly fields: readonly WorldField[];
}

/** A record with PocketBase's values: `""` for an empty date, relation or choice. */
export type WorldRecord = Readonly<Record<string, unknown>> & { readonly id: string };

/** Random collections with random records. */
export interface World {
  readonly collections: readonly WorldCollection[];
  readonly records: Readonly<Record<string, readonly WorldRecord[]>>;
}

const names = ['users', 'staff', 'teams', 'items', 'notes'];
const isAuth = (name: string) => name === 'users' || name === 'staff';

export const texts = ['', 'a', 'b', 'Ab', 'abc', 'x_y', '5', '5.0', '[]'];
export const numbers = [0, 1, 2, -1.5, 5];
export const dates = ['', '2024-01-01 00:00:00.000Z', '2024-06-15 10:30:00.000Z', '2035-01-01 23:59:59.000Z'];
export const kinds = ['red', 'blue', 'dark red'];
const jsons = [null, 0, 1, true, false, '', 'a', 5, { k: 'a', n: 1 }, { k: null, n: 'a' }, ['a'], {}, { n: true }];
const points = [
  { lon: 0, lat: 0 },
  { lon: 16.37, lat: 48.2 },
  { lon: -3.7, lat: 40.4 },
];

/** Makes random collections and records. */
export function createWorld(random: Random): World {
  const collections = names.map((name) => createCollection(name, random));
  const ids = (name: string) => [0, 1, 2, 3, 4, 5].map((index) => `${name}${'0'.repeat(14 - name.length)}${index}`);
  const records = collections.map((collection) => [
    collection.name,
    ids(collection.name).map((id) => createRecord(id, collection, ids, random)),
  ]);
  return { collections, records: Object.fromEntries(records) };
}

function createCollection(name: string, random: Random): WorldCollection {
  const optional = (probability: number) => random.chance(probability);
  const relation = (field: string, target: string, maxSelect: number): WorldField => ({
    name: field,
    type: 'relation',
    target,
    maxSelect,
    required: optional(0.15),
  });
  const fields: WorldField[] = [
    { name: 'title', type: 'text', required: optional(0.15) },
    { name: 'note', type: 'text' },
    { name: 'rank', type: 'number' },
    { name: 'size', type: 'number' },
    { name: 'done', type: 'bool' },
    { name: 'due', type: 'date', required: optional(0.15) },
    { name: 'start', type: 'date' },
    { name: 'kind', type: 'select', maxSelect: 1, values: kinds, required: optional(0.15) },
    { name: 'tags', type: 'select', maxSelect: 3, values: kinds },
    { name: 'meta', type: 'json' },
    { name: 'place', type: 'geoPoint' },
    relation('owner', 'users', 1),
    relation('crew', 'users', 9),
    relation('parent', random.pick(names), 1),
    relation('links', random.pick(names), 9),
  ];
  return { name, type: isAuth(name) ? 'auth' : 'base', fields: random.some(fields, 0.75) };
}

function createRecord(
  id: string,
  { type, fields }: WorldCollection,
  idsOf: (name: string) => readonly string[],
  random: Random,
): WorldRecord {
  const hasAddress = random.chance(0.7);
  const account = {
    email: hasAddress ? `${id}@example.com` : '',
    verified: hasAddress && random.chance(0.5),
    emailVisibility: random.chance(0.5),
  };
  const values = fields.map((field) => [field.name, createValue(field, idsOf, random)]);
  return { id, ...(type === 'auth' && account), ...Object.fromEntries(values) };
}

/** Makes a value for the field. */
export function createValue(field: WorldField, idsOf: (name: string) => readonly string[], random: Random): unknown {
  const { type, required, maxSelect = 1 } = field;
  const filled = (values: readonly string[]) => (required ? values.filter((value) => value !== '') : values);
  const list = (values: readonly string[]) => {
    const picked = random.some(values, random.pick([0, 0.2, 0.4]));
    return picked.length === 0 && required ? [random.pick(values)] : picked;
  };
  switch (type) {
    case 'text':
      return random.pick(filled(texts));
    case 'number':
      return random.pick(numbers);
    case 'bool':
      return random.chance(0.5);
    case 'date':
      return random.pick(filled(dates));
    case 'json':
      return random.pick(jsons);
    case 'geoPoint':
      return random.pick(points);
    default: {
      const values = type === 'select' ? kinds : idsOf(field.target ?? '').slice(0, 4);
      return maxSelect > 1 ? list(values) : random.pick(filled(['', ...values]));
    }
  }
}
