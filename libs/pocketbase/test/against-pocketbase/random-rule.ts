import type { Random } from './random.ts';
import type { WorldCollection, WorldField } from './world.ts';
import { dates, kinds, numbers, texts, type World } from './world.ts';

/** A random rule's parts, which are joined by `&&` or `||`. */
export type RuleTree = string | { readonly join: '&&' | '||'; readonly items: readonly RuleTree[] };

export const ruleText = (tree: RuleTree): string =>
  typeof tree === 'string'
    ? tree
    : tree.items.map((item) => (typeof item === 'string' ? item : `(${ruleText(item)})`)).join(` ${tree.join} `);

/** The trees with one part less. */
export function smallerTrees(tree: RuleTree): RuleTree[] {
  if (typeof tree === 'string') return [];
  const without = tree.items.map((_, index) => {
    const items = tree.items.filter((_item, other) => other !== index);
    const [only] = items;
    return items.length === 1 && only !== undefined ? only : { ...tree, items };
  });
  const inside = tree.items.flatMap((item, index) =>
    smallerTrees(item).map((smaller) => ({
      ...tree,
      items: tree.items.map((old, other) => (other === index ? smaller : old)),
    })),
  );
  return [...without, ...inside];
}

export interface RuleMaker {
  readonly world: World;
  readonly collection: WorldCollection;
  readonly random: Random;
  /** Whether a body is sent. */
  readonly hasBody: boolean;
  /** Whether the rule is about a record that both servers give an id of their own. */
  readonly isCreate: boolean;
}

/** Makes a random rule for the collection. */
export function createRule(maker: RuleMaker, depth = 2): RuleTree {
  const { random } = maker;
  if (depth === 0 || random.chance(0.45)) return createComparison(maker);
  const items = Array.from({ length: random.pick([2, 2, 3]) }, () => createRule(maker, depth - 1));
  return { join: random.chance(0.6) ? '&&' : '||', items };
}

interface End {
  readonly text: string;
  readonly field: WorldField;
}

/** Mostly operators that fit the type. */
function createOperator({ type, maxSelect = 1 }: WorldField, random: Random): string {
  const equals = ['=', '=', '!='];
  const orders = ['<', '<=', '>', '>='];
  const searches = ['~', '!~'];
  if (random.chance(0.04)) return random.pick([...equals, ...orders, ...searches]);
  if (['number', 'length', 'date'].includes(type)) return random.pick([...equals, ...orders]);
  if (maxSelect > 1) return random.pick([...searches, ...searches, ...equals]);
  return random.pick(type === 'bool' || type === 'json' ? equals : [...equals, ...equals, ...searches]);
}

function createComparison(maker: RuleMaker): string {
  const { random, collection } = maker;
  if (random.chance(0.05)) return createDistance(collection, random) ?? createComparison(maker);
  const left = createEnd(maker);
  const operator = `${random.chance(0.35) ? '?' : ''}${createOperator(left.field, random)}`;
  const right = random.chance(0.6) ? createLiteral(left.field, random) : createOther(maker, left.field);
  return random.chance(0.1) && !operator.includes('~')
    ? `${right} ${operator} ${left.text}`
    : `${left.text} ${operator} ${right}`;
}

function createDistance({ fields }: WorldCollection, random: Random): string | undefined {
  if (!fields.some(({ name }) => name === 'place')) return undefined;
  return `geoDistance(place.lon, place.lat, ${random.pick(['0, 0', '16, 48', '-3, 40'])}) ${random.pick(['<', '>', '<=', '>='])} ${random.pick([1, 100, 900, 5500])}`;
}

const id: WorldField = { name: 'id', type: 'text' };
const accountFields: readonly WorldField[] = [
  { name: 'email', type: 'email' },
  { name: 'verified', type: 'bool' },
];

const fieldsOf = ({ type, fields }: WorldCollection): WorldField[] => [
  id,
  ...fields.filter((field) => field.type !== 'geoPoint'),
  ...(type === 'auth' ? accountFields : []),
];

function createEnd(maker: RuleMaker): End {
  const { random, world, collection, hasBody } = maker;
  const origin = random.below(100);
  if (origin < 20) return createCallerEnd(maker);
  if (origin < 38) {
    const other = random.pick(world.collections);
    const alias = random.chance(0.15) ? `:${random.pick(['x', 'y'])}` : '';
    return createPath(`@collection.${other.name}${alias}.`, other, random.pick([0, 0, 0, 1]), maker);
  }
  if (origin < 60 && hasBody) return createBodyEnd(maker);
  if (origin < 62) return { text: '@request.query.q', field: { name: 'q', type: 'text' } };
  if (origin < 63) return { text: '@request.query.q:isset', field: { name: '', type: 'bool' } };
  if (origin < 64) return { text: '@request.method', field: { name: 'method', type: 'text' } };
  return createPath('', collection, random.pick([0, 0, 0, 1, 1, 2]), maker);
}

function createBodyEnd({ random, collection }: RuleMaker): End {
  const field = random.pick(collection.fields.filter(({ type }) => type !== 'geoPoint'));
  const flag = random.pick(['', '', '', ':isset', ':changed']);
  const each = (field.maxSelect ?? 1) > 1 && flag === '' ? random.pick(['', ':each', ':each', ':length']) : '';
  if (each === ':length') return { text: `@request.body.${field.name}:length`, field: { name: '', type: 'length' } };
  return {
    text: `@request.body.${field.name}${flag}${each}`,
    field: flag === '' ? { ...field, maxSelect: 1 } : { name: '', type: 'bool' },
  };
}

function createCallerEnd(maker: RuleMaker): End {
  const { random, world } = maker;
  const account = random.pick(world.collections.filter(({ type }) => type === 'auth'));
  if (random.chance(0.4))
    return { text: '@request.auth.id', field: { name: 'id', type: 'relation', target: account.name } };
  if (random.chance(0.1)) return { text: '@request.auth.collectionName', field: { name: 'c', type: 'collection' } };
  return createPath('@request.auth.', account, random.pick([0, 0, 0, 1]), maker);
}

/** A path over relations and back-relations to a field. */
function createPath(prefix: string, collection: WorldCollection, hops: number, maker: RuleMaker): End {
  const { random, world } = maker;
  const find = (name: string | undefined) => world.collections.find((candidate) => candidate.name === name);
  const relations = collection.fields.flatMap((field) => {
    const target = find(field.target);
    return target ? [{ text: field.name, target }] : [];
  });
  const back = world.collections.flatMap((other) =>
    other.fields
      .filter(({ target }) => target === collection.name)
      .map(({ name }) => ({ text: `${other.name}_via_${name}`, target: other })),
  );
  if (hops > 0 && relations.length + back.length > 0) {
    const hop = random.pick(random.chance(0.7) && relations.length > 0 ? relations : [...relations, ...back]);
    return createPath(`${prefix}${hop.text}.`, hop.target, hops - 1, maker);
  }
  const isOwn = prefix === '' && collection === maker.collection;
  const field = random.pick(fieldsOf(collection).filter(({ name }) => name !== 'id' || !isOwn || !maker.isCreate));
  if (field.type === 'json' && random.chance(0.5))
    return { text: `${prefix}${field.name}.${random.pick(['k', 'n'])}`, field };
  const isList = (field.maxSelect ?? 1) > 1;
  const ofOne = ['text', 'select'].includes(field.type) ? ['', '', '', '', ':lower', ':each'] : [''];
  const ofLength = field.type === 'select' ? [':length'] : [];
  const modifier = random.pick(isList ? ['', ':each', ':each', ':length'] : [...ofOne, ...ofLength]);
  const isLength = modifier === ':length' && field.maxSelect !== undefined;
  return { text: `${prefix}${field.name}${modifier}`, field: isLength ? { name: '', type: 'length' } : field };
}

function createLiteral({ type, target }: WorldField, random: Random): string {
  const quoted = (values: readonly string[]) => JSON.stringify(random.pick(values));
  if (random.chance(0.15)) return random.pick(['""', 'null', '""']);
  if (random.chance(0.04)) return random.pick(['true', '1', '"a"', '@now', '"[]"']);
  switch (type) {
    case 'number':
    case 'length':
      return String(random.pick(numbers));
    case 'bool':
      return random.pick(['true', 'false']);
    case 'date':
      return random.pick([
        ...dates.slice(1).map((date) => JSON.stringify(date)),
        '"2024-01-01"',
        '"2024-06-15 10:30:00"',
        '"2024"',
        '"2024-06-15T10:30:00Z"',
        '@now',
        '@todayEnd',
        '@yearStart',
      ]);
    case 'select':
      return quoted([...kinds, 'red', 'r']);
    case 'json':
      return random.pick(['1', '0', 'true', 'false', '"a"', '5', 'null', '""']);
    case 'relation':
      return quoted([
        `${target}${'0'.repeat(14 - (target ?? '').length)}1`,
        `${target}${'0'.repeat(14 - (target ?? '').length)}2`,
      ]);
    case 'collection':
      return quoted(['users', 'staff', 'other']);
    case 'email':
      return quoted(['users000000000@', 'users0000000001@example.com', 'example']);
    default:
      return quoted(texts);
  }
}

/** Another path, mostly to a field with the same type. */
function createOther(maker: RuleMaker, { type, target, maxSelect = 1 }: WorldField): string {
  const { random } = maker;
  if (type === 'relation' && random.chance(0.5)) return '@request.auth.id';
  for (let attempt = 0; attempt < 12; attempt += 1) {
    const { text, field } = createEnd(maker);
    if (
      field.type === type &&
      (target === undefined || field.target === target) &&
      maxSelect > 1 === (field.maxSelect ?? 1) > 1
    )
      return text;
  }
  return createEnd(maker).text;
}
