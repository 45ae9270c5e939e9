import { type Row, raw } from './row.ts';
import { idOf } from './side.ts';

const text = (content: string, name: string) => new File([content], name, { type: 'text/plain' });

const download = async (url: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url, { headers });
  return { status: response.status, text: await response.text() };
};

/** Files, batches and the other routes. */
export const otherRows: readonly Row[] = [
  { name: 'health', run: ({ guest }) => guest.health.check() },
  { name: 'an unknown route', run: (cast) => raw(cast, 'GET', '/api/nothing') },
  {
    name: 'upload',
    async run({ alice, ids }) {
      const record = await alice.collection('posts').create({
        title: 'files',
        author: idOf(alice),
        n: 3,
        ss: ['a', 'b'],
        doc: text('hello', 'My Long File.txt'),
        docs: [text('a', 'first file.txt'), text('b', 'second file.txt')],
      });
      ids.files = record.id;
      return record;
    },
  },
  {
    name: 'add a file, with modifiers',
    run: ({ alice, ids }) =>
      alice.collection('posts').update(ids.files ?? '', { 'docs+': text('c', 'third file.txt'), 'n+': 2, 'ss-': 'a' }),
  },
  {
    name: 'remove a file by its name',
    async run({ alice, ids }) {
      const { docs } = await alice.collection('posts').getOne(ids.files ?? '');
      return alice.collection('posts').update(ids.files ?? '', { 'docs-': [docs[0]] });
    },
  },
  {
    name: 'replace files',
    run: ({ alice, ids }) =>
      alice.collection('posts').update(ids.files ?? '', { docs: [text('d', 'fourth file.txt')] }),
  },
  {
    name: 'download',
    async run({ guest, ids }) {
      const record = await guest.collection('posts').getOne(ids.files ?? '');
      return download(guest.files.getURL(record, record.doc));
    },
  },
  {
    name: 'download in a size of which there is none',
    async run({ guest, ids }) {
      const record = await guest.collection('posts').getOne(ids.files ?? '');
      return download(guest.files.getURL(record, record.doc, { thumb: '9x9' }));
    },
  },
  { name: 'download nothing', run: (cast) => raw(cast, 'GET', `/api/files/posts/${cast.ids.files}/nothing.txt`) },
  {
    name: 'remove all files',
    run: ({ alice, ids }) => alice.collection('posts').update(ids.files ?? '', { doc: '', docs: [] }),
  },
  {
    name: 'a protected file',
    async run({ alice, guest, bob }) {
      const record = await alice
        .collection('notes')
        .create({ author: idOf(alice), paper: text('secret', 'secret paper.txt') });
      const token = await alice.files.getToken();
      const bobs = await bob.files.getToken();
      const url = (given?: string) =>
        guest.files.getURL(record, record.paper, given === undefined ? {} : { token: given });
      return [await download(url(token)), (await download(url(bobs))).status, (await download(url())).status];
    },
  },
  { name: 'a file token for guests', run: (cast) => raw(cast, 'POST', '/api/files/token') },
  {
    name: 'batch',
    async run({ alice, ids }) {
      const batch = alice.createBatch();
      batch.collection('tags').create({ name: 'one' });
      batch.collection('tags').upsert({ id: 'abcdefghijklmn2', name: 'two' });
      batch.collection('posts').update(ids.first ?? '', { 'n+': 1 });
      batch.collection('posts').create({ title: 'batch', author: idOf(alice), doc: text('x', 'batch file.txt') });
      return batch.send();
    },
  },
  {
    name: 'a batch that fails',
    async run({ alice }) {
      const batch = alice.createBatch();
      batch.collection('tags').create({ name: 'never' });
      batch.collection('posts').create({});
      return batch.send();
    },
  },
  {
    name: 'nothing of a batch that fails remains',
    run: ({ guest }) => guest.collection('tags').getFullList({ filter: 'name = "never"' }),
  },
  {
    name: 'a batch that a rule refuses',
    async run({ bob, ids }) {
      const batch = bob.createBatch();
      batch.collection('posts').delete(ids.first ?? '');
      return batch.send();
    },
  },
  { name: 'an empty batch', run: (cast) => raw(cast, 'POST', '/api/batch', { body: { requests: [] } }) },
  { name: 'collections as a guest', run: (cast) => raw(cast, 'GET', '/api/collections') },
  { name: 'collections as a user', run: ({ alice }) => alice.collections.getFullList() },
  {
    name: 'collections as an admin',
    run: async ({ admin }) => {
      const { name, type, listRule, fields } = await admin.collections.getOne('posts');
      const shown = fields.map((field) => `${field.name} ${field.type}`).sort();
      return { name, type, listRule, shown };
    },
  },
  {
    name: 'settings',
    run: ({ admin }) => admin.settings.getAll(),
    differs: 'Admins use our own admin pages and API: 404.',
  },
];
