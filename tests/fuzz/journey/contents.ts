import { file } from '../../harness/clients/multipart.ts';
import { objectAt, textAt } from '../../harness/json.ts';
import type { Call } from './survey.ts';

/** A PNG with one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

interface Parts {
  readonly call: Call;
  readonly admin: string;
}

/** A record and its file that the journey leaves for later requests. */
interface Leftovers {
  readonly filename: string;
  readonly recordId: string;
}

/**
 * Calls every collection and record operation, with those in `makeContents`: the routes that every collection has, and
 * the operations that the document names after each collection.
 */
export async function goThroughContents({ call, admin: as }: Parts): Promise<Leftovers> {
  await call('getCollections', { as });
  await call('postCollections', { as, body: { name: 'passing', fields: [{ name: 'a', type: 'text' }] } });
  await call('getCollectionsByCollection', { as, path: { collection: 'passing' } });
  const path = { collection: 'passing' };
  await call('patchCollectionsByCollection', { as, path, body: { list_rule: 'a != ""' } });
  const added = await call('postCollectionsByCollectionFields', { as, path, body: { name: 'b', type: 'number' } });
  const field = { ...path, field: textAt(added.json, 'data.id') };
  await call('patchCollectionsByCollectionFieldsByField', { as, path: field, body: { required: true } });
  await call('deleteCollectionsByCollectionFieldsByField', { as, path: field });
  await call('getAdminCollectionsByCollectionIndexes', { as, path });
  await call('postAdminCollectionsByCollectionIndexes', { as, path, body: { name: 'by_a', columns: ['a'] } });
  await call('deleteAdminCollectionsByCollectionIndexesByIndex', { as, path: { ...path, index: 'by_a' } });
  const search = { name: 'words', type: 'search', fields: [{ field: 'a' }] };
  await call('postAdminCollectionsByCollectionIndexes', { as, path, body: search });
  const index = { ...path, index: 'words' };
  await call('patchAdminCollectionsByCollectionIndexesByIndex', { as, path: index, body: { language: 'english' } });
  await call('postAdminCollectionsByCollectionTryRule', { as, path, body: { action: 'list', rule: 'a = "x"' } });
  await call('postAdminViewsPreview', { as, body: { view_query: 'select id, a from passing' } });
  const operations = [{ op: 'create', collection: 'passing', data: { a: 'x' } }];
  await call('postBatch', { as, body: { operations } });
  await call('postRecordsByCollectionList', { as, path, body: { ids: ['a'], sort: 'ids', fields: ['a'] } });
  await call('postSearch', { as, body: { queries: [{ collection: 'passing', search: 'x' }] } });
  await goThroughJobs({ call, admin: as }, path);
  const snapshot = objectAt((await call('getAdminMigrationsSnapshot', { as })).json, 'data');
  await call('postAdminMigrationsApply', { as, body: { snapshot, mode: 'additive' } });
  const schema = objectAt((await call('getAdminSchema', { as })).json, 'data');
  const { hash } = objectAt((await call('postAdminSchemaPlan', { as, body: { schema } })).json, 'data');
  await call('postAdminSchemaApply', { as, body: { schema, hash } });
  await call('deleteCollectionsByCollection', { as, path });
  await call('getAdminEventsSchema', { as });

  await goThroughRecords({ call, admin: as }, { collection: 'everything' }, (name) => general[name]);
  await goThroughKind({ call, admin: as }, 'others', { label: 'two' }, { label: null });
  const member = { email: 'cy@example.com', password: 'a long enough password' };
  await goThroughKind({ call, admin: as }, 'members', member, { email: 'cyd@example.com' });
  await call('upsert_members', { as, query: { on: 'email' }, body: member });
  const left = await goThroughRecords({ call, admin: as }, {}, (name) => `${name}_everything`);
  await call('list_seen', { as });
  await call('aggregate_seen', { as, query: { group: 'id' } });
  await call('export_seen', { as, query: { format: 'csv' } });
  await call('view_seen', { as, path: { id: left.recordId } });
  return left;
}

/** Calls the operations on jobs. A job may end before the journey can pause it, so one waits behind another. */
async function goThroughJobs({ call, admin: as }: Parts, path: { readonly collection: string }): Promise<void> {
  const lines = (count: number) => '{"a":"x"}\n'.repeat(count);
  const send = (count: number) =>
    call('postRecordsByCollectionImport', { as, path, raw: { type: 'application/x-ndjson', text: lines(count) } });
  await send(5000);
  const { json } = await send(1);
  const job = { id: textAt(json, 'data.id') };
  await call('postJobsByIdPause', { as, path: job });
  await call('postJobsByIdResume', { as, path: job });
  await call('postJobsByIdCancel', { as, path: job });
  await call('getJobs', { as, query: { state: 'cancelled', collection: path.collection } });
  await call('getJobsById', { as, path: job });
  await call('getJobsByIdRefused', { as, path: job });
}

/** Calls the operations on a collection without history. */
async function goThroughKind({ call, admin: as }: Parts, name: string, values: object, change: object): Promise<void> {
  const { json } = await call(`create_${name}`, { as, body: values });
  const path = { id: textAt(json, 'data.id') };
  await call(`list_${name}`, { as });
  await call(`aggregate_${name}`, { as, query: { count: '1' } });
  await call(`export_${name}`, { as, query: { format: 'ndjson' } });
  await call(`view_${name}`, { as, path });
  await call(`update_${name}`, { as, path, body: change });
  await call(`put_${name}`, { as, path, body: change });
  await call(`delete_${name}`, { as, path });
}

const general = {
  list: 'getByCollection',
  aggregate: 'getRecordsByCollectionAggregate',
  export: 'getRecordsByCollectionExport',
  create: 'postByCollection',
  view: 'getByCollectionById',
  update: 'patchByCollectionById',
  delete: 'deleteByCollectionById',
  put: 'putByCollectionById',
  upsert: 'putByCollection',
  history: 'getByCollectionByIdHistory',
  restore: 'postByCollectionByIdRestore',
} as const;

async function goThroughRecords(
  { call, admin: as }: Parts,
  path: Readonly<Record<string, string>>,
  nameOf: (operation: keyof typeof general) => string,
): Promise<Leftovers> {
  const query = { page: '1', perPage: '5', skipTotal: 'true', sort: '-created', filter: 'n < 3', expand: 'parent' };
  await call(nameOf('list'), { path, query });
  const near = { nearVector: '[1,0,0]', nearVectorField: 'embedding', nearLimit: '3', nearMinScore: '-1' };
  await call(nameOf('list'), { path, query: near });
  await call(nameOf('list'), { path, query: { cursor: '', perPage: '5', sort: '-n,code' } });
  const groups = { group: 'ok,month(created)', count: '1', sum: 'n', having: 'count > 0', tz: 'Europe/Vienna' };
  await call(nameOf('aggregate'), { path, query: groups });
  await call(nameOf('export'), { path, query: { format: 'json', sort: '-n', filter: 'n < 3', fields: 'id,n' } });
  const values = { code: 'abc', n: 2, ok: true, mail: 'a@example.com', kind: 'a', tags: ['x'], meta: { deep: [1] } };
  const made = await call(nameOf('create'), { path, body: { ...values, embedding: [0, 1, 0] } });
  const form = [
    { name: '_json', content: JSON.stringify(values) },
    file('photo', 'pixel.png', png, 'image/png'),
    file('papers', 'one.txt', 'one'),
    file('papers', 'two.txt', 'two'),
  ];
  const created = (await call(nameOf('create'), { path, form })).json;
  const id = textAt(created, 'data.id');
  const one = { ...path, id };
  await call(nameOf('view'), { path: one, query: { fields: 'id,code', expand: 'parent' } });
  await call(nameOf('update'), { as, path: one, body: { title: 'another', n: null } });
  await call(nameOf('put'), {
    as,
    path: { ...path, id: `own_${Object.keys(path).length}` },
    body: { ...values, n: { $add: 2 } },
  });
  await call(nameOf('put'), { as, path: one, body: { n: { $add: 1 }, tags: { $append: ['y'] } } });
  await call(nameOf('upsert'), { as, path, query: { on: 'slug' }, body: { code: 'abc', slug: 'one', n: { $add: 1 } } });
  const { json } = await call(nameOf('update'), { as, path: one, form: [file('papers', 'three.txt', 'three')] });
  await call(nameOf('history'), { path: one, query: { perPage: '2' } });
  await call(nameOf('restore'), { as, path: one, query: { at: String(Math.ceil(Date.now() / 1000) + 5) } });
  await call(nameOf('delete'), { as, path: { ...path, id: textAt(made.json, 'data.id') } });

  const filename = textAt(json, 'data.photo');
  const place = { collection: 'everything', id, filename };
  await call('getFilesByCollectionByIdByFilename', { path: place, query: { thumb: '100x100', download: '1' } });
  const [paper] = (objectAt(json, 'data').papers as string[]) ?? [];
  const protectedFile = { ...place, filename: String(paper) };
  const token = textAt((await call('postFilesToken', { as, body: protectedFile })).json, 'data.token');
  await call('getFilesByCollectionByIdByFilename', { path: protectedFile, query: { token } });
  const raw = { type: 'application/octet-stream', text: 'one' };
  await call('putFilesByCollectionByIdByFilename', { as, path: protectedFile, raw });
  return { filename, recordId: id };
}
