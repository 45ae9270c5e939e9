import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testCollection } from '../../test/test-collection.ts';
import { composeList } from './compose-list.ts';
import type { ListRequest } from './list-request.ts';

const posts = testCollection('posts', [{ name: 'title' }, { name: 'Order' }]);
const request: ListRequest = { page: 1, perPage: 20, skipTotal: true };

const ruleContext = {
  principal: { type: 'admin', id: 'a1', email: 'a@x.org' },
  schema: { findCollection: () => posts },
} as const;
const textOf = (list: ListRequest, totalMode: 'none' | 'count' | 'incremental') =>
  composeList(posts, list, totalMode, ruleContext).text;

describe("a list's statement", () => {
  it("contains a common first page's limit", () => {
    assert.match(textOf(request, 'none'), /order by t\.created_at desc, t\.id desc\s+limit 20\n/);
  });

  it('has other limits and offsets as values', () => {
    const otherPage = { ...request, page: 2 };
    for (const mode of ['none', 'count', 'incremental'] as const)
      assert.match(textOf(otherPage, mode), /limit \$\d+::bigint offset \$\d+::bigint\n/);
    assert.match(textOf({ ...request, perPage: 21 }, 'none'), /limit \$\d+::bigint offset \$\d+::bigint\n/);
  });

  it('has a value for each number in its text', () => {
    const given = { page: 2, perPage: 21, offset: 21, maxBytes: 4096, total: 7, snapshot: '5:5:' };
    for (const mode of ['none', 'count', 'incremental'] as const) {
      const { text, valuesFrom } = composeList(posts, { ...request, page: 2, perPage: 21 }, mode, ruleContext);
      const numbers = new Set([...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
      assert.deepEqual(
        [...numbers].sort(),
        valuesFrom(given).map((_, index) => index + 1),
      );
    }
  });

  it('counts only in the mode `count`', () => {
    assert.doesNotMatch(textOf(request, 'none'), /count\(|outbox/);
    assert.match(textOf(request, 'count'), /select count\(\*\) as total from records\."posts"/);
    assert.match(textOf(request, 'incremental'), /system\.outbox/);
  });

  it('subtracts from the whole what one negated test excludes', () => {
    const negated = { ...request, filter: 'title != "x"' };
    const excluded = 'records."posts" t where t."title" = $';
    assert.ok(textOf(negated, 'count').includes(`greatest(w.total - (select count(*) as total from ${excluded}`));
    assert.match(textOf(negated, 'incremental'), /w\.total - [\s\S]*system\.outbox/);
    for (const filter of ['title = "x"', 'title != "x" && Order != "y"', 'title != "x" || Order = "y"'])
      assert.doesNotMatch(textOf({ ...request, filter }, 'count'), /w\.total/);
  });

  it('has no records for a caller who lacks what the rule reads', () => {
    const own = { ...posts, rules: { ...posts.rules, list: '@request.auth.id != "" && title != @request.auth.email' } };
    const principal = { type: 'guest', rejectedToken: false } as const;
    const { text } = composeList(own, { ...request, skipTotal: false }, 'incremental', { ...ruleContext, principal });
    assert.match(text, /case when true and .+ is not null.+ then greatest\(w\.total - .+, 0\) else 0 end as total/);
  });

  it('reads only the members that `fields` names', () => {
    const text = textOf({ ...request, fields: 'Order, nothing' }, 'none');
    assert.match(text, /select t\.id, t\."Order"\s+from/);
    assert.match(text, /select p\.id as "id", p\."Order" as "Order"\) r/);
  });
});
