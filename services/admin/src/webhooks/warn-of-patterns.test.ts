import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findUnknownPatterns } from './warn-of-patterns.ts';

const collections = [
  { name: 'posts', type: 'base' },
  { name: 'totals', type: 'view' },
] as const;
const declared = [{ name: 'shop.create' }, { name: 'posts.archived' }];

const rows: readonly (readonly [pattern: string, warning: RegExp | undefined])[] = [
  ['*', undefined],
  ['posts.*', undefined],
  ['posts.create', undefined],
  ['posts.created', /posts\.created matches no event of records: a collection's events are posts\.create,/],
  ['post.create', /post\.create matches no event of records: there is no collection post\./],
  ['totals.update', /totals is a view/],
  ['totals.*', /totals is a view/],
  ['posts.archived', undefined],
  ['shop.create', undefined],
  // An extension may publish events that it does not declare.
  ['shop.paid', undefined],
  ['orders.*', undefined],
  ['orders', undefined],
  ['a.b.create', undefined],
  ['system.webhook.disabled', undefined],
  ['webhooks.test', undefined],
];

for (const [pattern, warning] of rows)
  test(`${pattern} ${warning ? 'warns' : 'does not warn'} [webhooks §1.3]`, () => {
    const found = findUnknownPatterns([pattern], collections, declared);
    assert.equal(found.length, warning ? 1 : 0, found.join('\n'));
    if (warning) assert.match(String(found[0]), warning);
  });
