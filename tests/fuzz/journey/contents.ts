import { objectAt, textAt } from '../../harness/json.ts';
import { file } from '../../harness/multipart.ts';
import type { Ask } from './survey.ts';

/** A PNG of one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

interface Parts {
  readonly ask: Ask;
  readonly admin: string;
}

/** What a journey through contents leaves there to be asked for. */
interface Left {
  readonly filename: string;
  readonly recordId: string;
}

/**
 * Everything that can be done with collections and their records, with those that `makeContents` made: by the routes that
 * any collection has, and by the operations that the document names after each.
 */
export async function goThroughContents({ ask, admin: as }: Parts): Promise<Left> {
  await ask('getCollections', { as });
  await ask('postCollections', { as, body: { name: 'passing', fields: [{ name: 'a', type: 'text' }] } });
  await ask('getCollectionsByCollection', { as, path: { collection: 'passing' } });
  const path = { collection: 'passing' };
  await ask('patchCollectionsByCollection', { as, path, body: { list_rule: 'a != ""' } });
  await ask('getAdminCollectionsByCollectionIndexes', { as, path });
  await ask('postAdminCollectionsByCollectionIndexes', { as, path, body: { name: 'by_a', columns: ['a'] } });
  await ask('deleteAdminCollectionsByCollectionIndexesByIndex', { as, path: { ...path, index: 'by_a' } });
  const snapshot = objectAt((await ask('getAdminMigrationsSnapshot', { as })).json, 'data');
  await ask('postAdminMigrationsApply', { as, body: { snapshot, mode: 'additive' } });
  await ask('deleteCollectionsByCollection', { as, path });
  await ask('getAdminEventsSchema', { as });

  await goThroughRecords({ ask, admin: as }, { collection: 'everything' }, (name) => general[name]);
  await goThroughKind({ ask, admin: as }, 'others', { label: 'two' }, { label: null });
  const member = { email: 'cy@example.com', password: 'a long enough password' };
  await goThroughKind({ ask, admin: as }, 'members', member, { email: 'cyd@example.com' });
  const left = await goThroughRecords({ ask, admin: as }, {}, (name) => `${name}_everything`);
  await ask('list_seen', { as });
  await ask('view_seen', { as, path: { id: left.recordId } });
  return left;
}

/** The operations of a collection that keeps no history. */
async function goThroughKind({ ask, admin: as }: Parts, name: string, values: object, change: object): Promise<void> {
  const { json } = await ask(`create_${name}`, { as, body: values });
  const path = { id: textAt(json, 'data.id') };
  await ask(`list_${name}`, { as });
  await ask(`view_${name}`, { as, path });
  await ask(`update_${name}`, { as, path, body: change });
  await ask(`delete_${name}`, { as, path });
}

const general = {
  list: 'getByCollection',
  create: 'postByCollection',
  view: 'getByCollectionById',
  update: 'patchByCollectionById',
  delete: 'deleteByCollectionById',
  history: 'getByCollectionByIdHistory',
  restore: 'postByCollectionByIdRestore',
} as const;

async function goThroughRecords(
  { ask, admin: as }: Parts,
  path: Readonly<Record<string, string>>,
  nameOf: (operation: keyof typeof general) => string,
): Promise<Left> {
  const query = { page: '1', perPage: '5', skipTotal: 'true', sort: '-created', filter: 'n < 3', expand: 'parent' };
  await ask(nameOf('list'), { path, query });
  const near = { nearVector: '[1,0,0]', nearVectorField: 'embedding', nearLimit: '3', nearMinScore: '-1' };
  await ask(nameOf('list'), { path, query: near });
  const values = { code: 'abc', n: 2, ok: true, mail: 'a@example.com', kind: 'a', tags: ['x'], meta: { deep: [1] } };
  const made = await ask(nameOf('create'), { path, body: { ...values, embedding: [0, 1, 0] } });
  const form = [
    { name: '_json', content: JSON.stringify(values) },
    file('photo', 'pixel.png', png, 'image/png'),
    file('papers', 'one.txt', 'one'),
    file('papers', 'two.txt', 'two'),
  ];
  const created = (await ask(nameOf('create'), { path, form })).json;
  const id = textAt(created, 'data.id');
  const one = { ...path, id };
  await ask(nameOf('view'), { path: one, query: { fields: 'id,code', expand: 'parent' } });
  await ask(nameOf('update'), { as, path: one, body: { title: 'another', n: null } });
  const { json } = await ask(nameOf('update'), { as, path: one, form: [file('papers', 'three.txt', 'three')] });
  await ask(nameOf('history'), { path: one, query: { perPage: '2' } });
  await ask(nameOf('restore'), { as, path: one, query: { at: String(Math.ceil(Date.now() / 1000) + 5) } });
  await ask(nameOf('delete'), { as, path: { ...path, id: textAt(made.json, 'data.id') } });

  const filename = textAt(json, 'data.photo');
  const place = { collection: 'everything', id, filename };
  await ask('getFilesByCollectionByIdByFilename', { path: place, query: { thumb: '1x1', download: '1' } });
  const [paper] = (objectAt(json, 'data').papers as string[]) ?? [];
  const sealed = { ...place, filename: String(paper) };
  const token = textAt((await ask('postFilesToken', { as, body: sealed })).json, 'data.token');
  await ask('getFilesByCollectionByIdByFilename', { path: sealed, query: { token } });
  return { filename, recordId: id };
}
