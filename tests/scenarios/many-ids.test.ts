import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openLive } from '../harness/clients/live-client.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology('a filter has up to a thousand ids', async (t, target) => {
  const admin = await target.admin();
  const fields = [{ name: 'title', type: 'text' }];
  await admin.post('/api/v1/collections', { name: 'parcels', type: 'base', fields, list_rule: null, view_rule: null });
  const wanted = [await admin.create('parcels', { title: 'a' }), await admin.create('parcels', { title: 'b' })];
  await admin.create('parcels', { title: 'other' });
  const idsOf = (count: number) => [
    ...Array.from({ length: count - 2 }, () => randomUUID()),
    ...wanted.map(({ id }) => String(id)),
  ];
  const filterOf = (count: number, more = '') => `id in (${idsOf(count).map((id) => `"${id}"`)})${more}`;
  const path = (filter: string, end = '') => `/api/v1/parcels${end}?sort=title&filter=${encodeURIComponent(filter)}`;

  await t.test('a list, an aggregate and an export take 1,000 of them [filters §3]', async () => {
    const { json } = await target.guest.get(path(filterOf(1000)));
    assert.deepEqual(
      listAt(json, 'data').map((one) => textAt(one, 'title')),
      ['a', 'b'],
    );
    assert.equal(at(json, 'totalItems'), 2);
    const rest = await target.guest.get(path(`not (${filterOf(1000)})`));
    assert.deepEqual(
      listAt(rest.json, 'data').map((one) => textAt(one, 'title')),
      ['other'],
    );
    const counted = await target.guest.get(
      `/api/v1/parcels/aggregate?count=1&filter=${encodeURIComponent(filterOf(1000, ' && title != "b"'))}`,
    );
    assert.deepEqual(at(counted.json, 'data'), [{ count: 1 }]);
    const exported = await target.guest.get(path(filterOf(1000), '/export'));
    assert.equal(exported.status, 200, exported.text);
    assert.match(exported.text, /"title":"b"|,b/);
  });

  await t.test('one more is 400, and so is a long text beside them [filters §3]', async () => {
    for (const [filter, message] of [
      [filterOf(1001), /filter: .*more than 1000 values in parentheses/],
      [filterOf(1000, ` && title = "${'x'.repeat(4000)}"`), /filter: .*at most 4000 characters/],
    ] as const) {
      const { status, json } = await target.guest.get(path(filter));
      assert.equal(status, 400);
      assert.match(textAt(json, 'error'), message);
    }
  });

  await t.test('a live subscription takes 1,000 of them [realtime §2.4]', async () => {
    await using live = await openLive(target.url, [{ collection: 'parcels', filter: filterOf(1000) }], {
      asBody: true,
    });
    await live.arrived('ready');
    await admin.patch(`/api/v1/parcels/${wanted[0]?.id}`, { title: 'changed' });
    const [update] = await live.arrived('update');
    assert.equal(at(update?.data, 'record.title'), 'changed');
  });
});
