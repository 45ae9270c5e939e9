import type pg from 'pg';
import type { AdminApi } from '../product/admin-api.ts';
import { tableOf } from '../product/product-layout.ts';
import { sizes } from '../seed.ts';

/** The most terms that a filter may have. */
const comparisons = 190;
const essayCount = 200;
const versionCount = 300;
const longText = 'Lorem ipsum dolor sit amet. '.repeat(1000);

const open = { list_rule: null, view_rule: null, create_rule: null, update_rule: null, delete_rule: null };
const text = (name: string) => ({ name, type: 'text' });

const unlike = (field: string): string =>
  encodeURIComponent(Array.from({ length: comparisons }, (_, n) => `${field}!~"${n}"`).join('&&'));

/** Creates data that is expensive to read. Returns the paths of a guest's most expensive reads. */
export async function prepareExpensiveReads(admin: AdminApi, database: pg.Client): Promise<string[]> {
  const define = (name: string, fields: object[], more: object = {}) =>
    admin.call('POST', '/api/v1/collections', { name, type: 'base', fields, ...open, ...more });
  const create = (collection: string, values: object) =>
    admin.call<{ id: string }>('POST', `/api/v1/records/${collection}`, values);

  await define('essays', [text('body')]);
  await create('essays', { body: longText });
  await copyFirst(database, 'essays', 'body', essayCount);

  await define('chains', [text('body'), { name: 'next', type: 'relation', collection: 'chains' }]);
  let { id: next } = await create('chains', { body: 'x'.repeat(1_040_000) });
  for (let left = 5; left > 0; left -= 1) ({ id: next } = await create('chains', { next }));
  for (let left = 100; left > 0; left -= 1) await create('chains', { next });

  await define('revisions', [text('body')], { history_enabled: true });
  const { id: revised } = await create('revisions', { body: longText });
  for (let n = 1; n < versionCount; n += 1)
    await admin.call('PATCH', `/api/v1/records/revisions/${revised}`, { body: `${n} ${longText}` });

  const { posts } = sizes['100k'];
  const expand = Array.from({ length: 6 }, () => 'next').join('.');
  return [
    `essays?filter=${unlike('body')}`,
    `chains?expand=${expand}&perPage=100&sort=-created`,
    `${posts}?filter=${unlike('description')}&sort=description`,
    `${posts}?sort=author.organization.name,-author.name,title&perPage=1000&page=50`,
    `revisions/${revised}/history?perPage=1000`,
    `${posts}?filter=${encodeURIComponent('description ~ "ipsum dolor"')}&perPage=1000`,
    `${posts}?perPage=1000&page=99&skipTotal=1&expand=author.organization`,
  ].map((path) => `/api/v1/records/${path}`);
}

/** Copies the first row until the table has the given number of rows. */
async function copyFirst(database: pg.Client, collection: string, column: string, count: number): Promise<void> {
  await database.query(
    `insert into ${tableOf(collection)} (id, created_at, updated_at, "${column}")
     select gen_random_uuid(), created_at, updated_at, "${column}" from ${tableOf(collection)}, generate_series(2, $1)`,
    [count],
  );
}
