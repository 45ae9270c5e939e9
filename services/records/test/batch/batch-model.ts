import type { Collection } from '@recordbus/schema';
import fc from 'fast-check';
import { type TestField, testCollection } from '../test-collection.ts';

/** One twin's collections. The twins' collections differ only in their names' prefix. */
export function collectionsOf(prefix: string): Collection[] {
  const relation = (name: string, to: string, cascade: string, more: object = {}): TestField => ({
    name,
    type: 'relation',
    collection: `${prefix}${to}`,
    options: { cascade, ...more },
  });
  const rules = (more: object) => ({ list: null, view: null, create: null, update: null, delete: null, ...more });
  const teams = testCollection(
    `${prefix}teams`,
    [
      { name: 'name', required: true },
      { name: 'code', options: { unique: true } },
      { name: 'size', type: 'number' },
    ],
    { historyEnabled: true },
  );
  const posts = testCollection(
    `${prefix}posts`,
    [
      { name: 'title', required: true, options: { max: 5 } },
      { name: 'slug', options: { unique: true } },
      { name: 'n', type: 'number', options: { default: 1 } },
      { name: 'tags', type: 'select', options: { values: ['a', 'b', 'c'], multiple: true } },
      { name: 'meta', type: 'json' },
      { name: 'seen', type: 'autodate', options: { onCreate: true, onUpdate: true } },
      { name: 'closed', writeRule: '', viewRule: '' },
      { name: 'half', writeRule: 'n < 3', viewRule: 'n != 2' },
      relation('team', 'teams', 'setNull'),
      relation('parent', 'posts', 'cascade'),
    ],
    {
      historyEnabled: true,
      rules: rules({ create: 'title != "no"', update: 'n < 9 && title != "kept"', delete: 'n != 8' }),
    },
  );
  const notes = testCollection(
    `${prefix}notes`,
    [{ name: 'text' }, { name: 'n', type: 'number' }, relation('post', 'posts', 'restrict')],
    {
      rules: rules({
        create: `not exists(${prefix}notes, text = record.text && text = "one")`,
        update: '@request.body.n != 3',
      }),
    },
  );
  const plain = testCollection(
    `${prefix}plain`,
    [{ name: 'text' }, { name: 'n', type: 'number' }, relation('of', 'plain', 'setNull')],
    {
      historyEnabled: true,
      rules: rules({ delete: 'n != 8', update: `of.n != 2` }),
    },
  );
  const lone = testCollection(`${prefix}lone`, [{ name: 'text' }, { name: 'n', type: 'number' }], {
    rules: rules({ create: 'n != 9', update: 'n != 8', delete: 'n != 8' }),
  });
  return [teams, posts, notes, plain, lone];
}

export const names = ['teams', 'posts', 'notes', 'plain', 'lone'] as const;
export type Name = (typeof names)[number];

/** An operation before its records are chosen. Numbers pick among the existing ones. */
export interface Draft {
  readonly verb: 'create' | 'place' | 'update' | 'upsert' | 'upsertOn' | 'delete';
  readonly name: Name;
  readonly target: number;
  readonly others: readonly [number, number];
  readonly value: number;
  readonly fields: number;
  readonly condition: 'none' | 'none' | 'current' | 'stale' | 'any';
  /** Whether it repeats the previous operation's verb and collection. */
  readonly repeats: boolean;
}

const draft: fc.Arbitrary<Draft> = fc.record({
  verb: fc.constantFrom('create', 'create', 'place', 'update', 'update', 'upsert', 'upsertOn', 'delete'),
  name: fc.constantFrom(...names, 'lone', 'plain'),
  target: fc.nat(60),
  others: fc.tuple(fc.nat(60), fc.nat(60)),
  value: fc.nat(9),
  fields: fc.nat(255),
  condition: fc.constantFrom(...Array<'none'>(12).fill('none'), 'current', 'current', 'any', 'stale'),
  repeats: fc.nat(3).map((n) => n > 0),
});

/** Batches, each for a caller. */
export const batches = fc.record({
  as: fc.constantFrom('guest', 'guest', 'admin'),
  drafts: fc.array(draft, { minLength: 1, maxLength: 12, size: 'max' }).map(repeated),
});

function repeated(drafts: readonly Draft[]): Draft[] {
  const result: Draft[] = [];
  for (const one of drafts) {
    const before = result.at(-1);
    const hasKey = one.name === 'teams' || one.name === 'posts';
    const verb = one.verb === 'upsertOn' && !hasKey ? 'upsert' : one.verb;
    const like = before && one.repeats ? before : { ...one, verb };
    result.push({ ...one, verb: like.verb, name: like.name, fields: like.fields });
  }
  return result;
}

type Place = (to: Name, number: number) => unknown;

/** A draft's values. `place` returns a record from another collection. */
export function valuesOf({ name, value, fields, others: [first, second] }: Draft, place: Place): object {
  const has = (bit: number) => (fields & (1 << bit)) !== 0;
  const some = (given: Record<string, unknown>, names: readonly string[]) =>
    Object.fromEntries(names.flatMap((key, bit) => (has(bit) ? [[key, given[key]]] : [])));
  if (name === 'teams')
    return {
      name: `t${value}`,
      ...some({ code: `c${value % 5}`, size: has(3) ? { $add: value } : value }, ['code', 'size']),
    };
  if (name === 'posts')
    return {
      title:
        value === 8 && has(7)
          ? 'no'
          : value === 7 && has(7)
            ? 'too long'
            : value === 6 && has(7)
              ? 'kept'
              : `p${value}`,
      ...(has(6) && { slug: `s${value}` }),
      ...(has(0) && { n: has(4) ? { $add: 1 } : value % 7 }),
      ...(has(1) && { tags: has(4) ? { $append: ['a', 'c'] } : ['b'] }),
      ...(has(2) && { team: place('teams', first) }),
      ...(has(5) && { parent: place('posts', second) }),
      ...(value === 9 && has(7) && { closed: 'x' }),
      ...(value === 5 && has(7) && { half: 'y' }),
      ...(has(5) && has(6) && { meta: { $ref: 'o0.id', value } }),
    };
  if (name === 'notes')
    return { text: value < 2 ? 'one' : 'other', ...some({ n: value, post: place('posts', first) }, ['n', 'post']) };
  if (name === 'plain') return { text: `x${value}`, ...some({ n: value % 4, of: place('plain', first) }, ['n', 'of']) };
  return { text: `l${value}`, ...some({ n: value % 10 }, ['n']) };
}
