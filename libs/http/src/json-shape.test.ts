import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createJsonBudget,
  findJsonExcess,
  largeBodyBytes,
  maxDifferentMembers,
  maxDifferentTexts,
  maxGroupsOfLarge,
  maxMembersOfLarge,
  maxNesting,
} from './json-shape.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const excessOf = (value: unknown): string | undefined => findJsonExcess(bytesOf(JSON.stringify(value)));

test('a body may nest up to the limit, but no deeper', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const nested = (depth: number) => bytesOf(`${open.repeat(depth)}1${close.repeat(depth)}`);
    assert.equal(findJsonExcess(nested(maxNesting)), undefined);
    assert.match(findJsonExcess(nested(maxNesting + 1)) ?? '', /^nests deeper/);
  }
});

test('brackets within texts, and closed ones, do not count', () => {
  const brackets = '['.repeat(maxNesting * 2);
  for (const value of [brackets, `\\"${brackets}`, { [brackets]: 1 }, Array.from({ length: maxNesting * 2 }, () => [])])
    assert.equal(excessOf(value), undefined);
});

test('many lists at a deep level exceed the limit, many at a high level do not', () => {
  assert.equal(excessOf(Array.from({ length: 300_000 }, () => [])), undefined);
  const deep = `${'['.repeat(500)}${']'.repeat(500)}`;
  assert.match(findJsonExcess(bytesOf(`[${Array.from({ length: 1000 }, () => deep).join()}]`)) ?? '', /deep levels/);
});

const many = maxDifferentMembers * 2;
const numbered = (count: number, make: (index: number) => unknown): unknown[] =>
  Array.from({ length: count }, (_, index) => make(index));
const members = (count: number, prefix = 'n') =>
  Object.fromEntries(numbered(count, (index) => [`${prefix}${index}`, 1]) as [string, number][]);

test('a body may have only so many different members, at any position [http §2.1]', () => {
  const some = Math.floor(maxDifferentMembers * 0.99);
  assert.equal(excessOf(members(some)), undefined);
  for (const value of [
    members(many),
    { data: [members(many)] },
    numbered(many, (index) => ({ [`n${index}`]: 1 })),
    numbered(many, (index) => ({ [`n${index % 200}`]: 1, [`m${Math.floor(index / 200)}`]: 2 })),
    numbered(200, (index) => members(200, `n${index}.`)),
  ])
    assert.match(excessOf(value) ?? '', /different members$/);
  assert.match(
    findJsonExcess(bytesOf(JSON.stringify(members(many)).replaceAll(':', '\n : '))) ?? '',
    /different members$/,
  );
});

test('members count once if their records have the same shape', () => {
  assert.equal(excessOf(numbered(many, (index) => ({ x: index, y: index, text: `text ${index}` }))), undefined);
  assert.equal(excessOf(numbered(many, (index) => `n${index}:`)), undefined);
});

test('a body may have only so many different short texts; longer and repeated ones do not count [http §2.1]', () => {
  const texts = (count: number, make: (index: number) => string) => excessOf(numbered(count, make));
  assert.equal(
    texts(maxDifferentTexts * 0.99, (index) => `t${index}`),
    undefined,
  );
  assert.match(texts(maxDifferentTexts * 2, (index) => `t${index}`) ?? '', /different short texts$/);
  assert.match(
    excessOf(numbered(maxDifferentTexts * 2, (index) => ({ a: `t${index}` }))) ?? '',
    /different short texts$/,
  );
  assert.equal(
    texts(maxDifferentTexts * 2, (index) => `longer ${index + 100_000}`),
    undefined,
  );
  assert.equal(
    texts(maxDifferentTexts * 2, (index) => `t${index % 1000}`),
    undefined,
  );
});

test('a large body may have fewer members, lists and objects [http §2.1]', () => {
  const padding = 'x'.repeat(largeBodyBytes);
  const some = members(maxMembersOfLarge * 1.1);
  assert.equal(excessOf([some]), undefined);
  assert.match(excessOf([some, padding]) ?? '', /different members$/);
  const groups = numbered(maxGroupsOfLarge, () => ({}));
  assert.equal(excessOf(groups), undefined);
  assert.match(excessOf([...groups, padding]) ?? '', /lists and objects$/);
  const field = (index: number) => ({ id: `f_${index}_abcdefgh`, name: `field_${index}`, type: 'text', options: {} });
  const snapshot = numbered(500, (index) => ({ name: `c${index}`, fields: numbered(50, field), indexes: [] }));
  assert.equal(excessOf([snapshot, padding, padding]), undefined);
});

test("several texts share one text's budget, even if each is short [http §2.1]", () => {
  const excessOfAll = (texts: readonly string[]): string | undefined => {
    const budget = createJsonBudget();
    return texts.map((text) => budget.take(bytesOf(text))).find((excess) => excess !== undefined);
  };
  const share = 200;
  const parts = (count: number, prefixOf: (part: number) => string) =>
    numbered(count, (part) => JSON.stringify(members(share, prefixOf(part)))) as string[];
  const fits = Math.floor((maxDifferentMembers * 0.99) / share);
  assert.equal(excessOfAll(parts(fits, (part) => `n${part}.`)), undefined);
  assert.match(excessOfAll(parts(fits * 2, (part) => `n${part}.`)) ?? '', /different members$/);
  assert.equal(excessOfAll(parts(fits * 2, () => 'n')), undefined);
  const deep = `${'['.repeat(500)}${']'.repeat(500)}`;
  assert.equal(excessOfAll([deep, deep]), undefined);
  assert.match(excessOfAll(Array.from({ length: 1000 }, () => deep)) ?? '', /deep levels/);
  assert.match(excessOfAll(['{}', '['.repeat(maxNesting + 1)]) ?? '', /^nests deeper/);
});
