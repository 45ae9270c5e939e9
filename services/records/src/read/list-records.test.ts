import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testCollection } from '../../test/test-collection.ts';
import { composeList, type ListRequest } from './list-records.ts';

const posts = testCollection('posts', [{ name: 'title' }, { name: 'Order' }]);
const request: ListRequest = { page: 1, perPage: 20, skipTotal: true };

const asking = {
  principal: { type: 'admin', id: 'a1', email: 'a@x.org' },
  schema: { findCollection: () => posts },
} as const;
const textOf = (asked: ListRequest, totalling: 'none' | 'count' | 'carry on') =>
  composeList(posts, asked, totalling, asking).text;

describe('the statement of a list', () => {
  it('has the limit of a usual first page in its text', () => {
    assert.match(textOf(request, 'none'), /order by t\.created_at desc, t\.id desc\s+limit 20\n/);
  });

  it('takes any other window as values, behind those of the total', () => {
    const unusual = { ...request, page: 2 };
    assert.match(textOf(unusual, 'none'), /limit \$3 offset \$4/);
    assert.match(textOf(unusual, 'count'), /limit \$3 offset \$4/);
    assert.match(textOf(unusual, 'carry on'), /limit \$5 offset \$6/);
    assert.match(textOf({ ...request, perPage: 21 }, 'none'), /limit \$3 offset \$4/);
  });

  it('counts only when it is asked to', () => {
    assert.doesNotMatch(textOf(request, 'none'), /count\(|outbox/);
    assert.match(textOf(request, 'count'), /select count\(\*\) as total from records\."posts"/);
    assert.match(textOf(request, 'carry on'), /system\.outbox/);
  });

  it('reads the members that fields names, and no others', () => {
    const text = textOf({ ...request, fields: 'Order, nothing' }, 'none');
    assert.match(text, /select t\.id, t\."Order"\s+from/);
    assert.match(text, /select p\.id as "id", p\."Order" as "Order"\) r/);
  });
});
