import assert from 'node:assert/strict';
import { is } from '../harness/matching.ts';
import { type Caller, runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const path = '/api/v1/records/sales';
const at = (text: string): number => Date.parse(text) / 1000;

onEachTopology('aggregates', async (t, target) => {
  const admin = await target.admin();
  await admin.define('shops', [{ name: 'town', type: 'text' }], {
    list_rule: 'town != "secret"',
    view_rule: 'town != "secret"',
  });
  await admin.define(
    'sales',
    [
      { name: 'product', type: 'text' },
      { name: 'price', type: 'number' },
      { name: 'sold', type: 'date' },
      { name: 'paid', type: 'bool' },
      { name: 'shop', type: 'relation', collection: 'shops' },
      { name: 'code', type: 'text', options: { encrypted: true } },
      { name: 'place', type: 'vector', options: { dimensions: 2 } },
      { name: 'meta', type: 'json' },
    ],
    { list_rule: 'product != "hidden"' },
  );
  const berlin = await admin.create('shops', { town: 'Berlin' });
  const secret = await admin.create('shops', { town: 'secret' });
  const sell = (values: object) => admin.create('sales', values);
  await sell({
    product: 'tea',
    price: 2,
    sold: at('2026-01-31T23:30:00Z'),
    paid: true,
    shop: berlin.id,
    meta: { a: 1 },
  });
  await sell({ product: 'tea', price: 3, sold: at('2026-02-01T00:30:00Z'), paid: true, shop: secret.id });
  await sell({ product: 'tea', sold: at('2026-02-02T12:00:00Z'), paid: false });
  await sell({ product: 'jam', price: 10.5, sold: at('2026-03-29T12:00:00Z'), shop: berlin.id, meta: null });
  await sell({ product: 'hidden', price: 1000, sold: at('2026-03-29T12:00:00Z') });
  await sell({ price: 1, sold: at('1969-12-28T12:00:00Z') });

  const shows = (name: string, query: string, data: unknown, as: Caller = 'guest'): Scenario => ({
    name,
    as,
    request: `GET ${path}/aggregate?${query}`,
    expect: { status: 200, json: is.containing({ data }) },
    spec: 'records §16',
  });
  const refused = (name: string, query: string, error: RegExp): Scenario => ({
    name,
    request: `GET ${path}/aggregate?${query}`,
    expect: { status: 400, json: is.containing({ error: is.matching(error), code: is.code }) },
    spec: 'records §16',
  });
  const text = encodeURIComponent;

  await runScenarios(t, target, [
    shows('the number of records', 'count=1', [{ count: 5 }]),
    shows('the number of records for an admin', 'count=1', [{ count: 6 }], 'admin'),
    shows('every function', 'count=true&sum=price&avg=price&min=price,sold,product&max=price', [
      {
        count: 5,
        sum_price: 16.5,
        avg_price: 4.125,
        min_price: 1,
        min_sold: at('1969-12-28T12:00:00Z'),
        min_product: 'jam',
        max_price: 10.5,
      },
    ]),
    shows(
      'nothing of no records, and their number',
      `count=1&sum=price&avg=price&min=price&filter=${text('price > 99999')}`,
      [{ count: 0, sum_price: null, avg_price: null, min_price: null }],
    ),
    shows('no group of no records with a key', `group=product&count=1&filter=${text('price > 99999')}`, []),
    shows('groups in the order of their keys, null last', 'group=product&count=1&sum=price', [
      { product: 'jam', count: 1, sum_price: 10.5 },
      { product: 'tea', count: 3, sum_price: 5 },
      { product: null, count: 1, sum_price: 1 },
    ]),
    shows('groups without values', 'group=paid,product', [
      { paid: false, product: 'tea' },
      { paid: true, product: 'tea' },
      { paid: null, product: 'jam' },
      { paid: null, product: null },
    ]),
    {
      name: 'a page of groups with totals, sorted by a value',
      request: `GET ${path}/aggregate?group=product&sum=price&sort=-sum_price&perPage=1&page=2`,
      expect: {
        status: 200,
        json: { data: [{ product: 'tea', sum_price: 5 }], page: 2, perPage: 1, totalItems: 3, totalPages: 3 },
      },
      spec: 'records §16',
    },
    shows('groups that having selects', `group=product&count=1&having=${text('count > 1 && product != null')}`, [
      { product: 'tea', count: 3 },
    ]),
    shows('months in UTC', `group=month(sold)&count=1&filter=${text('sold > 0')}`, [
      { month_sold: at('2026-01-01T00:00:00Z'), count: 1 },
      { month_sold: at('2026-02-01T00:00:00Z'), count: 2 },
      { month_sold: at('2026-03-01T00:00:00Z'), count: 1 },
    ]),
    shows(
      'months in a time zone',
      `group=month(sold)&count=1&tz=Europe/Berlin&filter=${text('sold > 0 && sold < 1772300000')}`,
      [{ month_sold: at('2026-01-31T23:00:00Z'), count: 3 }],
    ),
    shows(
      'days in a time zone whose clock changes',
      `group=day(sold)&tz=Europe/Berlin&filter=${text('product = "jam"')}`,
      [{ day_sold: at('2026-03-28T23:00:00Z') }],
    ),
    shows('a time zone without a period', `count=1&tz=Europe/Berlin&filter=${text('product = "jam"')}`, [{ count: 1 }]),
    shows(
      'a time zone with a group that is not a period',
      `group=product&tz=Europe/Berlin&sort=product&having=${text('product = "jam"')}`,
      [{ product: 'jam' }],
    ),
    shows('days in UTC, also before 1970', `group=day(sold)&filter=${text('sold < 0')}`, [
      { day_sold: at('1969-12-28T00:00:00Z') },
    ]),
    shows('weeks from Monday, also before 1970', `group=week(sold)&count=1`, [
      { week_sold: at('1969-12-22T00:00:00Z'), count: 1 },
      { week_sold: at('2026-01-26T00:00:00Z'), count: 2 },
      { week_sold: at('2026-02-02T00:00:00Z'), count: 1 },
      { week_sold: at('2026-03-23T00:00:00Z'), count: 1 },
    ]),
    shows('years', `group=year(sold)&count=1&sort=-year_sold&perPage=1`, [
      { year_sold: at('2026-01-01T00:00:00Z'), count: 4 },
    ]),
    shows('keys of a related record, null where the caller may not see it', 'group=shop.town&count=1', [
      { shop_town: 'Berlin', count: 2 },
      { shop_town: null, count: 3 },
    ]),
    shows(
      'keys of a related record for an admin',
      'group=shop.town&count=1&sort=-shop_town',
      [
        { shop_town: null, count: 3 },
        { shop_town: 'secret', count: 1 },
        { shop_town: 'Berlin', count: 2 },
      ],
      'admin',
    ),
    shows('keys of JSON, where null is not a value', `group=meta.a&count=1`, [
      { meta_a: 1, count: 1 },
      { meta_a: null, count: 4 },
    ]),
    refused('nothing to compute', '', /group: or a value to compute is required/),
    refused('five keys', 'group=product,paid,price,sold,shop', /group: may have at most 4 keys/),
    refused('nine values', 'count=1&sum=price&avg=price&min=price,sold,product&max=price,sold,product', /max: only 8/),
    refused('an unknown field', 'sum=prize', /sum: sales has no field "prize"/),
    refused('an encrypted field', 'group=code', /group: the field "code"/),
    refused('a vector', 'group=place', /group: "place" is a vector/),
    refused('a sum of texts', 'sum=product', /sum: takes no text such as "product"/),
    refused('a period of a text', 'group=month(product)', /group: "product" is not a date/),
    refused('an unknown period', 'group=decade(sold)', /group: there is no period "decade"/),
    refused('one member twice', 'sum=price,price', /two members "sum_price"/),
    refused('a sort by an unknown member', 'group=product&sort=price', /sort: the answer has no member "price"/),
    refused(
      'a having with an unknown member',
      'group=product&having=price%3E1',
      /having: the answer has no field "price"/,
    ),
    ...[
      ['a having with other records', 'exists(shops, town = "Berlin")', 'there is no collection "shops"'],
      [
        'a having with other records of each group',
        'exists(shops, id = record.shop)',
        'there is no collection "shops"',
      ],
      ['a having with a path over a relation', 'shop.town = "Berlin"', ''],
      ['a having with a back-relation', 'sales_via_shop.price > 1', 'the answer has no field "sales_via_shop"'],
      ['a having with a number of records', 'count(sales_via_shop) > 1', 'the answer has no field "sales_via_shop"'],
      ['a having with a time of the records', 'created > 1', 'the answer has no field "created"'],
      ['a having with a value of the request', '@request.auth.id != ""', ''],
    ].map(([name = '', having = '', error]) =>
      refused(name, `group=shop&count=1&having=${text(having)}`, new RegExp(`having: ${error}`)),
    ),
    refused('a having with the id', 'group=product&having=id%3D%221%22', /having: the answer has no field "id"/),
    refused('an offset as time zone', 'count=1&tz=%2B02:00', /tz: is not a time zone/),
    refused('an unknown time zone', 'count=1&tz=Europe/Atlantis', /tz: is not a time zone/),
    refused('a filter that does not parse', 'count=1&filter=price', /filter: /),
    {
      name: 'a collection that only admins may list',
      request: 'GET /api/v1/records/vaults/aggregate?count=1',
      expect: { status: 404 },
      spec: 'records §16',
    },
  ]);

  await t.test(
    'a sum beyond the numbers is 422, and a date beyond the calendar has no month [records §16]',
    async () => {
      for (let n = 0; n < 2; n += 1) await sell({ product: 'star', price: 1.7e308, sold: '+020000-01-01T00:00:00Z' });
      const star = `filter=${text('product = "star"')}`;
      const { status, json } = await target.guest.send('GET', `${path}/aggregate?sum=price&${star}`);
      assert.deepEqual([status, (json as { code?: string }).code], [422, 'number_too_large']);
      const { json: months } = await target.guest.get(`${path}/aggregate?group=month(sold)&count=1&${star}`);
      assert.deepEqual((months as { data: unknown }).data, [{ month_sold: null, count: 2 }]);
    },
  );

  await t.test("the collection's other paths answer the same [records §1.1]", async () => {
    for (const prefix of ['/api/sales', '/api/v1/sales']) {
      const { json } = await admin.get(`${prefix}/aggregate?count=1&filter=${text('price = 2')}`);
      assert.deepEqual((json as { data: unknown }).data, [{ count: 1 }]);
    }
  });
});
