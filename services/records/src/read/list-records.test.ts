import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testCollection } from '../../test/test-collection.ts';
import { composeList, type ListRequest } from './list-records.ts';

const posts = testCollection('posts', [{ name: 'title' }, { name: 'Order' }]);
const request: ListRequest = { page: 1, perPage: 20, skipTotal: true };

describe('the statement of a list', () => {
  it('has the limit of a usual first page in its text', () => {
    assert.match(composeList(posts, request, 'none'), /order by t\.created_at desc, t\.id desc\s+limit 20\n/);
  });

  it('takes any other window as values, behind those of the total', () => {
    const unusual = { ...request, page: 2 };
    assert.match(composeList(posts, unusual, 'none'), /limit \$3 offset \$4/);
    assert.match(composeList(posts, unusual, 'count'), /limit \$3 offset \$4/);
    assert.match(composeList(posts, unusual, 'carry on'), /limit \$5 offset \$6/);
    assert.match(composeList(posts, { ...request, perPage: 21 }, 'none'), /limit \$3 offset \$4/);
  });

  it('counts only when it is asked to', () => {
    assert.doesNotMatch(composeList(posts, request, 'none'), /count\(|outbox/);
    assert.match(composeList(posts, request, 'count'), /select count\(\*\) as total from records\."posts"/);
    assert.match(composeList(posts, request, 'carry on'), /system\.outbox/);
  });

  it('reads the members that fields names, and no others', () => {
    const text = composeList(posts, { ...request, fields: 'Order, nothing' }, 'none');
    assert.match(text, /select t\.id as "id", t\."Order" as "Order"\s+from/);
  });
});
