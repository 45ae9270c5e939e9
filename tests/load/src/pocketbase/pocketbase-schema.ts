import type { PocketBaseApi } from './start-pocketbase.ts';

const open = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' };
const text = (name: string) => ({ name, type: 'text' });
const times = [
  { name: 'created', type: 'autodate', onCreate: true },
  { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
];

/** Creates the collections from `seed`, and those for rows. PocketBase has an auth collection from the start. */
export async function createSchema(superuser: PocketBaseApi): Promise<void> {
  const ids = new Map<string, string>();
  const create = async (name: string, fields: object[], more: object = {}) => {
    const definition = { name, type: 'base', fields: [...fields, ...times], ...open, ...more };
    ids.set(name, (await superuser<{ id: string }>('POST', '/api/collections', definition)).id);
  };
  const relation = (name: string, to: string) => ({
    name,
    type: 'relation',
    collectionId: ids.get(to),
    maxSelect: 1,
  });
  await create('organizations', [text('name')]);
  for (const size of ['10k', '100k'])
    await create(`authors${size}`, [text('name'), relation('organization', 'organizations')]);
  const posts = async (name: string, authors: string, more: object = {}) => {
    const fields = [text('title'), text('description'), { name: 'public', type: 'bool' }, relation('author', authors)];
    // The product indexes relations, too.
    await create(name, fields, { indexes: [`create index idx_${name} on ${name} (author)`], ...more });
  };
  await posts('posts10k', 'authors10k');
  await posts('posts100k', 'authors100k');
  await posts('posts_of_owners', 'authors100k', { listRule: 'author = @request.auth.id' });
  await posts('posts_of_members', 'authors100k', { listRule: '@request.auth.id != ""' });
  await create('pictures', [text('title'), { name: 'picture', type: 'file', maxSelect: 1 }]);
}
