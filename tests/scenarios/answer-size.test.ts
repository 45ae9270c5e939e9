import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { is } from '../harness/matching.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const tooLarge = { status: 422, json: { error: is.text, code: 'answer_too_large' } };
const fits = { status: 200 };
const spec = 'cost §2.1';

const text = (name: string) => ({ name, type: 'text' });
const open = { list_rule: null, view_rule: null };

const reads = (name: string, request: string, expect: Scenario['expect']): Scenario => ({
  name,
  request: `GET /api/v1/${request}`,
  expect,
  spec,
});

/** Sets the limit and waits until it applies: the read at `path` is refused, or answered for the default (''). */
async function limit(admin: Client, value: string, path: string): Promise<void> {
  await admin.patch('/api/v1/admin/settings', { 'records.max_answer_bytes': value });
  const status = value === '' ? 200 : 422;
  await eventually('the limit applies', async () => (await admin.get(path)).status === status);
}

onEachTopology('an answer has at most 32 MiB, even if it repeats one large record', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'tomes', type: 'base', fields: [text('body')], ...open });
  const fields = [{ name: 'tome', type: 'relation', collection: 'tomes' }];
  await admin.post('/api/v1/collections', { name: 'quotes', type: 'base', fields, ...open });
  // One letter repeated to 1 MB is 12 kB as PostgreSQL stores it.
  const tome = await admin.create('tomes', { body: 'x'.repeat(1_040_000) });
  for (let left = 40; left > 0; left -= 1) await admin.create('quotes', { tome: tome.id });
  const expanded = 'fields=id,expand&expand=tome&skipTotal=1';
  await runScenarios(t, target, [
    reads('one megabyte 40 times', `quotes?perPage=1000&${expanded}`, tooLarge),
    reads('with a total and a sort', 'quotes?perPage=100&expand=tome&sort=tome.id', tooLarge),
    reads('a page that fits', `quotes?perPage=5&${expanded}`, fits),
    reads('the large record', `tomes/${tome.id}`, fits),
    { name: 'the service stays ready', request: 'GET /readyz', expect: fits, spec },
  ]);
});

onEachTopology('no answer with records is larger than records.max_answer_bytes', async (t, target) => {
  const admin = await target.admin();
  const define = (name: string, fields: object[], more: object = {}) =>
    admin.post('/api/v1/collections', { name, type: 'base', fields, ...open, ...more });
  const vector = { name: 'place', type: 'vector', options: { dimensions: 2 } };
  await define('pages', [text('body'), vector], { history_enabled: true });
  await define('secrets', [{ name: 'body', type: 'text', options: { encrypted: true } }]);
  await define('sums', [{ name: 'numbers', type: 'json' }]);
  await define('links', [
    { name: 'page', type: 'relation', collection: 'pages' },
    { name: 'sum', type: 'relation', collection: 'sums' },
    { name: 'link', type: 'relation', collection: 'links' },
  ]);
  await admin.post('/api/v1/collections', {
    name: 'page_view',
    type: 'view',
    view_query: 'select id, body from pages',
    ...open,
  });
  const body = 'b'.repeat(10_000);
  const page = await admin.create('pages', { body, place: [1, 0] });
  for (let left = 11; left > 0; left -= 1) {
    await admin.create('pages', { body, place: [0, left] });
    await admin.create('secrets', { body });
    await admin.patch(`/api/v1/pages/${page.id}`, { body: `${left}${body}` });
  }
  // Each number has five characters in the request, and 309 as PostgreSQL writes it.
  const sum = await admin.create('sums', { numbers: Array.from({ length: 1000 }, () => 1e308) });
  const link = await admin.create('links', { page: page.id, sum: sum.id });
  const outer = await admin.create('links', { link: link.id });
  // A control character takes six characters in JSON, and little more than one when encrypted.
  const small = await admin.create('secrets', { body: 'x'.repeat(20_000) });
  const grown = await admin.create('secrets', { body: '\u0001'.repeat(20_000) });

  await limit(admin, '100000', '/api/v1/pages?perPage=100');
  await runScenarios(t, target, [
    reads('the first page', 'pages', tooLarge),
    reads('a page without a total', 'pages?perPage=12&skipTotal=1', tooLarge),
    reads('a page that fits', 'pages?perPage=9', fits),
    reads('ten records, of which nine fit', 'pages?perPage=10&skipTotal=1', tooLarge),
    reads('records without the large field', 'pages?fields=id', fits),
    reads('filtered records', `pages?filter=${encodeURIComponent('body ~ "b"')}`, tooLarge),
    reads('nearest records', 'pages?nearVector=[0,1]&nearVectorField=place&nearLimit=12', tooLarge),
    reads('a few nearest records', 'pages?nearVector=[0,1]&nearVectorField=place&nearLimit=3', fits),
    reads('the history', `pages/${page.id}/history`, tooLarge),
    reads('a page of the history', `pages/${page.id}/history?perPage=5`, fits),
    reads('a view', 'page_view', tooLarge),
    reads('a row of a view', `page_view/${page.id}`, fits),
    reads('encrypted records', 'secrets', tooLarge),
    reads('an encrypted record that fits', `secrets/${small.id}`, fits),
    reads('an encrypted record that is too large once decrypted', `secrets/${grown.id}`, tooLarge),
    reads('a list with that record', `secrets?filter=${encodeURIComponent(`id = "${grown.id}"`)}`, tooLarge),
    reads('numbers that PostgreSQL writes longer', `sums/${sum.id}`, tooLarge),
    reads('a list with those numbers', 'sums?skipTotal=1', tooLarge),
    reads('an expanded record that is too large', `links/${link.id}?expand=sum`, tooLarge),
    reads('an expanded record over two relations', `links/${outer.id}?expand=link.sum`, tooLarge),
    reads('an expanded record that fits', `links/${link.id}?expand=page`, fits),
  ]);
  await limit(admin, '', '/api/v1/pages?perPage=100');
});
