import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLinesOf } from './source-lines.ts';

const source = `import { defineCollection } from '@recordbus/extensions';

export const collection = defineCollection({
  name: 'posts',
  // list_rule: everyone
  list_rule: null,
  fields: [
    { name: 'title', type: 'text' },
    {
      name: "state",
      type: 'select',
      options: { values: ['draft'] },
    },
    ...shared,
  ],
});
`;

for (const [path, line] of [
  [['list_rule'], 6],
  [['fields', 'title', 'type'], 8],
  [['fields', 'state'], 10],
  [['fields', 'state', 'options', 'values'], 12],
  [['fields', 'computed', 'type'], 7],
  [['type'], 3],
  [['unknown'], 3],
  [['(a+)+$'], 3],
] as const)
  test(`${path.join('.')} is in line ${line}`, () => assert.equal(findLinesOf(source)(path), line));
