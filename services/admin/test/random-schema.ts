/** A collection's schema file. */
export type File = Record<string, unknown> & { readonly name: string; readonly fields?: readonly Definition[] };
type Definition = Record<string, unknown> & { readonly name: string; readonly type: string };

/** Random numbers that a seed repeats (mulberry32). */
export function randomOf(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    below,
    chance: (share: number): boolean => next() < share,
    pick: <T>(list: readonly T[]): T => {
      const picked = list[below(list.length)];
      if (picked === undefined) throw new Error('nothing to pick from');
      return picked;
    },
    shuffled: <T>(list: readonly T[]): T[] => {
      const rest = [...list];
      return list.flatMap(() => rest.splice(below(rest.length), 1));
    },
  };
}

type Random = ReturnType<typeof randomOf>;

const collectionNames = ['posts', 'people', 'Tags', 'notes', 'orders', 'a1'];
const fieldNames = ['title', 'body', 'Rank', 'state', 'parent', 'x_1', 'size', 'made'];
const idOf = (index: number): string => `0198f0a0-0000-7000-8000-00000000000${index}`;

/** What a field with each id is in every schema: its type never changes. Several have options that may. */
const kinds: readonly ((random: Random) => Record<string, unknown>)[] = [
  (random) => ({
    type: 'text',
    ...maybe(random, { required: true }, 0.1),
    options: {
      ...maybe(random, { max: 50 }),
      ...maybe(random, { pattern: '^[a-z]*$' }),
      ...maybe(random, { default: 'x' }),
    },
  }),
  (random) => ({ type: 'text', options: { ...maybe(random, { unique: true }) } }),
  (random) => ({ type: 'number', options: { ...maybe(random, { min: 0 }), ...maybe(random, { default: 3 }) } }),
  (random) => ({
    type: 'select',
    options: { values: random.shuffled(['a', 'b', "o'c"]), ...maybe(random, { multiple: true }) },
  }),
  (random) => ({
    type: 'file',
    options: { ...maybe(random, { multiple: true }), ...maybe(random, { thumbs: ['10x10'] }) },
  }),
  (random) => ({ type: 'text', options: { ...maybe(random, { encrypted: true }) } }),
  (random) => ({ type: 'vector', options: { dimensions: 3 }, ...maybe(random, { view_rule: '' }) }),
  (random) => ({ type: 'autodate', onCreate: true, ...maybe(random, { onUpdate: true }) }),
  (random) => ({ type: 'json', ...maybe(random, { write_rule: '@request.auth.id != ""' }) }),
  (random) => ({
    type: 'relation',
    options: { ...maybe(random, { multiple: true }), cascade: random.pick(['setNull', 'cascade']) },
  }),
  (random) => ({ type: 'relation', options: { ...maybe(random, { multiple: true }) } }),
];

const maybe = (random: Random, members: object, share = 0.4): object => (random.chance(share) ? members : {});

/** Makes a random schema's files. Ids mean the same thing in every schema in the test, names do not. */
export function randomSchema(random: Random): File[] {
  const names = random.shuffled(collectionNames);
  const indexes = random.shuffled([0, 1, 2, 3]).slice(0, 1 + random.below(4));
  const nameOf = new Map(indexes.map((index) => [index, names.pop() ?? '']));
  const tables = indexes.map((index): File => {
    const fields = randomFields(random, index, nameOf);
    const plain = fields
      .filter(({ type, options }) => type === 'text' && !isEncrypted(options))
      .map(({ name }) => name);
    const rule = () =>
      random.pick([null, '', 'id != ""', '@request.auth.id != ""', ...plain.map((name) => `${name} = "a"`)]);
    return {
      id: idOf(index),
      name: nameOf.get(index) ?? '',
      type: index === 3 ? 'auth' : 'base',
      list_rule: rule(),
      view_rule: rule(),
      update_rule: rule(),
      history_enabled: random.chance(0.3),
      fields,
      indexes: plain
        .filter(() => random.chance(0.3))
        .map((column) => ({
          name: `by_${column}`,
          columns: random.chance(0.5) ? [column] : [column, 'id'],
          ...maybe(random, { unique: true }, 0.2),
        })),
    };
  });
  const views = [4, 5]
    .filter(() => random.chance(0.5))
    .map((index): File => {
      const { name, fields = [] } = random.pick(tables);
      const open = fields.filter(
        ({ type, options }) => ['text', 'number', 'select'].includes(type) && !isEncrypted(options),
      );
      const columns = ['id', 'created', ...open.map((field) => `"${field.name}"`)];
      return {
        id: idOf(index),
        name: names.pop() ?? '',
        type: 'view',
        list_rule: random.pick([null, '', 'id = "x"']),
        view_query: `select ${columns.join(', ')} from "${name}"${random.chance(0.3) ? ' where id is not null' : ''}`,
      };
    });
  return random.shuffled([...tables, ...views]);
}

const isEncrypted = (options: unknown): boolean =>
  typeof options === 'object' && options !== null && 'encrypted' in options;

function randomFields(random: Random, collection: number, nameOf: ReadonlyMap<number, string>): Definition[] {
  const names = random.shuffled(fieldNames);
  return random
    .shuffled(kinds.map((_, index) => index))
    .slice(0, random.below(6))
    .flatMap((index): Definition[] => {
      const kind = kinds[index]?.(random) ?? {};
      // The target is the same collection in every schema.
      const target = nameOf.get((collection + index) % 4);
      if (kind.type === 'relation' && target === undefined) return [];
      return [
        {
          id: `field${index}`,
          name: names.pop() ?? '',
          type: String(kind.type),
          ...(kind.type === 'relation' && { collection: target }),
          ...kind,
        } as Definition,
      ];
    });
}
