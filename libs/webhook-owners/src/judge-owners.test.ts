import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { type Collection, type Field, tableOf } from '@recordbus/schema';
import fc from 'fast-check';
import { judgeOwners } from './judge-owners.ts';
import { shareOf } from './owner-body.ts';
import { objectText, type RecordChange } from './record-change.ts';

const field = (name: string, type: string): Field => ({
  id: `f_${name}`,
  name,
  type,
  required: false,
  system: false,
  options: {},
});
const collectionOf = (name: string, fields: readonly Field[], webhook?: string): Collection => ({
  id: `c_${name}`,
  name,
  type: 'base',
  fields,
  viewQuery: null,
  rules: { list: null, view: null, create: null, update: null, delete: null, ...(webhook && { webhook }) },
  historyEnabled: false,
  createdAtSec: 0,
  updatedAtSec: 0,
});

const firms = collectionOf('firms', [field('region', 'text'), field('level', 'number')]);
const orderFields = [field('firm', 'text'), field('region', 'text'), field('amount', 'number')];

interface Firm {
  readonly id: string;
  readonly region: string | null;
  readonly level: number | null;
}
interface Order {
  readonly firm: string;
  readonly region: string;
  readonly amount: number;
}
type Rule =
  | { readonly kind: 'all' | 'any'; readonly items: readonly Rule[] }
  | { readonly kind: 'not'; readonly item: Rule }
  | {
      readonly kind: 'test';
      readonly member: keyof Order;
      readonly operator: '=' | '!=' | '>' | '<';
      readonly right: Side;
    };
type Side = { readonly owner: keyof Firm } | { readonly value: string | number };

const print = (rule: Rule): string => {
  if (rule.kind === 'not') return `not (${print(rule.item)})`;
  if (rule.kind !== 'test')
    return rule.items.map((item) => `(${print(item)})`).join(rule.kind === 'all' ? ' && ' : ' || ');
  const right = 'owner' in rule.right ? `@owner.${rule.right.owner}` : JSON.stringify(rule.right.value);
  return `${rule.member} ${rule.operator} ${right}`;
};

/** Says in plain words what a rule means: a test on a value that the owner lacks never holds, negated or not. */
function holds(rule: Rule, order: Order, owner: Firm, isNegated = false): boolean {
  if (rule.kind === 'not') return holds(rule.item, order, owner, !isNegated);
  if (rule.kind !== 'test') {
    const results = rule.items.map((item) => holds(item, order, owner, isNegated));
    return (rule.kind === 'all') !== isNegated ? results.every(Boolean) : results.some(Boolean);
  }
  const left = order[rule.member];
  const right = 'owner' in rule.right ? owner[rule.right.owner] : rule.right.value;
  if (right === null) return false;
  const result = { '=': left === right, '!=': left !== right, '>': left > right, '<': left < right }[rule.operator];
  return result !== isNegated;
}

const names = fc.constantFrom('north', 'south', 'west');
const numbers = fc.integer({ min: 0, max: 3 });
const ids = ['a', 'b', 'c'] as const;
const texts = fc.record({
  kind: fc.constant('test' as const),
  member: fc.constantFrom('firm' as const, 'region' as const),
  operator: fc.constantFrom('=' as const, '!=' as const),
  right: fc.oneof(
    fc.record({ owner: fc.constantFrom('id' as const, 'region' as const) }),
    fc.record({ value: fc.oneof(names, fc.constantFrom(...ids)) }),
  ),
});
const amounts = fc.record({
  kind: fc.constant('test' as const),
  member: fc.constant('amount' as const),
  operator: fc.constantFrom('=' as const, '!=' as const, '>' as const, '<' as const),
  right: fc.oneof(fc.record({ owner: fc.constant('level' as const) }), fc.record({ value: numbers })),
});
const { rule: rules } = fc.letrec<{ rule: Rule }>((tie) => ({
  rule: fc.oneof(
    { maxDepth: 3 },
    texts,
    amounts,
    fc.record({ kind: fc.constant('not' as const), item: tie('rule') }),
    fc.record({
      kind: fc.constantFrom('all' as const, 'any' as const),
      items: fc.array(tie('rule'), { minLength: 2, maxLength: 3 }),
    }),
  ),
}));
const orders = fc.record({ firm: fc.constantFrom(...ids), region: names, amount: numbers });
const changes = fc.oneof(
  fc.record({
    action: fc.constantFrom('create' as const, 'delete' as const),
    record: orders,
    previous: fc.constant(undefined),
  }),
  fc.record({ action: fc.constant('update' as const), record: orders, previous: orders }),
);
const owners = fc.record({ region: fc.option(names), level: fc.option(numbers) });

const membersOf = (order: Order): ReadonlyMap<string, string> =>
  new Map([
    ['id', '"r"'],
    ...Object.entries(order).map(([name, value]): [string, string] => [name, JSON.stringify(value)]),
  ]);

describe("a collection's webhook_rule", { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  before(async () => {
    temporary = await openTemporaryDatabase();
    await temporary.database.query({
      text: `create table ${tableOf(firms)} (id text collate "C" primary key, region text, level double precision,
        created_at bigint, updated_at bigint)`,
      values: [],
    });
  });
  after(() => temporary?.remove());

  it('gives random owners of random records what a plain evaluator gives them [webhooks §9.3]', async () => {
    const { query } = temporary.database;
    await fc.assert(
      fc.asyncProperty(
        rules,
        fc.array(changes, { minLength: 1, maxLength: 5 }),
        fc.array(owners, { minLength: 1, maxLength: 3 }),
        async (rule, given, facts) => {
          const found = facts.map((one, index): Firm => ({ id: ids[index] ?? '', ...one }));
          await query({ text: `delete from ${tableOf(firms)}`, values: [] });
          await query({
            text: `insert into ${tableOf(firms)} (id, region, level)
              select * from unnest($1::text[], $2::text[], $3::double precision[])`,
            values: [found.map(({ id }) => id), found.map(({ region }) => region), found.map(({ level }) => level)],
          });
          const collection = collectionOf('orders', orderFields, print(rule));
          const schema = { findCollection: (name: string) => [firms, collection].find((one) => one.name === name) };
          const items = given.flatMap(({ action, record, previous }) => {
            const members = { record: membersOf(record), previous: previous && membersOf(previous) };
            const change: RecordChange = { collection, action, ...members, changed: [] };
            // The last owner does not exist.
            return [...found, { id: 'gone', region: 'north', level: 1 }].map((owner) => ({
              change,
              owner: firms,
              ownerId: owner.id,
              firm: owner,
              record,
              previous,
            }));
          });
          const verdicts = await judgeOwners(query, schema, items);
          for (const [index, { change, firm, record, previous }] of items.entries()) {
            const isThere = firm.id !== 'gone';
            const expected = {
              held: isThere && previous !== undefined && holds(rule, previous, firm),
              holds: isThere && holds(rule, record, firm),
            };
            assert.deepEqual(verdicts[index], expected, `${print(rule)} for ${objectText(change.record)}`);
            const share = shareOf(change, expected);
            assert.equal(share === 'all' || share === 'entered', expected.holds);
          }
        },
      ),
      { numRuns: 200, seed: 1 },
    );
  });

  it('gives nothing for a record without a field that it names, and for a rule that is not valid now', async () => {
    const { query } = temporary.database;
    await query({ text: `insert into ${tableOf(firms)} (id) values ('z')`, values: [] });
    const judge = (rule: string, record: ReadonlyMap<string, string>) => {
      const collection = collectionOf('orders', orderFields, rule);
      const change: RecordChange = { collection, action: 'create', record, previous: undefined, changed: [] };
      const schema = { findCollection: () => undefined };
      return judgeOwners(query, schema, [{ change, owner: firms, ownerId: 'z' }]);
    };
    const whole = membersOf({ firm: 'z', region: 'north', amount: 1 });
    const renamed = new Map([...whole].filter(([name]) => name !== 'region'));
    const odd = new Map([...whole, ['amount', '"no number"']]);
    const held = async (rule: string, record: ReadonlyMap<string, string>) => (await judge(rule, record))[0]?.holds;
    assert.equal(await held('firm = @owner.id', whole), true);
    assert.equal(await held('region != "south"', renamed), false);
    assert.equal(await held('region != "south"', whole), true);
    assert.equal(await held('dropped = 1', whole), false);
    assert.equal(await held('@request.auth.id = "x"', whole), false);
    assert.equal(await held('firm = @owner.id', odd), false);
  });
});
