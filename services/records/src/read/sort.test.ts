import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '@recordbus/shared/errors';
import { testCollection } from '../../test/test-collection.ts';
import { orderBy } from './sort.ts';

const posts = testCollection('posts', [{ name: 'title' }, { name: 'Order' }]);

describe('sort', () => {
  const rows: [string, string | undefined, string][] = [
    ['newest first without it', undefined, 't.created_at desc, t.id desc'],
    [
      'the names of the interface for the times',
      'created_at,-updated_at',
      't.created_at, t.updated_at desc, t.id desc',
    ],
    ['the names of records for the times', '-created,updated', 't.created_at desc, t.updated_at, t.id'],
    ['fields, ties by id in the direction of the last', '-title, Order', 't."title" desc, t."Order", t.id'],
    ['nothing after the id', 'title,-id,Order', 't."title", t.id desc'],
  ];
  for (const [title, sort, expected] of rows) it(title, () => assert.equal(orderBy(posts, sort), expected));

  const refused: [string, string, RegExp][] = [
    ['an unknown field', 'titel', /posts has no field "titel"/],
    ['another case', 'order', /no field "order"/],
    ['an empty term', 'title,,Order', /no field ""/],
    ['two signs', '--title', /no field "-title"/],
    ['a name of the language', 'constructor', /no field "constructor"/],
    ['nine terms', 'id,id,id,id,id,id,id,id,id', /at most 8 terms/],
  ];
  for (const [title, sort, message] of refused) {
    it(`refuses ${title}`, () =>
      assert.throws(
        () => orderBy(posts, sort),
        (error) => error instanceof AppError && error.status === 400 && message.test(error.message),
      ));
  }
});
