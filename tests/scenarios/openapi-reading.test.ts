import assert from 'node:assert/strict';
import { createFindProblem } from '../fuzz/check-answer.ts';
import { find, operationsOf } from '../fuzz/operations.ts';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, objectAt, textAt } from '../harness/json.ts';
import { onOneProcess } from '../harness/stacks/target.ts';

const path = '/api/v1/openapi.json';

const writers = {
  name: 'read_writers',
  type: 'base',
  fields: [
    { name: 'name', type: 'text', required: true },
    { name: 'photo', type: 'file', options: { mimeTypes: ['image/png'] } },
    { name: 'papers', type: 'file', options: { multiple: true } },
    { name: 'secret', type: 'text', view_rule: 'name = "x"' },
  ],
};

const books = {
  name: 'read_books',
  type: 'base',
  fields: [
    { name: 'title', type: 'text', required: true },
    { name: 'kind', type: 'select', required: true, options: { values: ['novel', 'essay'] } },
    { name: 'tags', type: 'select', options: { values: ['x', 'y'], multiple: true } },
    { name: 'isbn', type: 'text', options: { pattern: '^[0-9]{13}$' } },
    { name: 'printed', type: 'date' },
    { name: 'writer', type: 'relation', collection: 'read_writers' },
    { name: 'helpers', type: 'relation', collection: 'read_writers', options: { multiple: true } },
    { name: 'hidden', type: 'relation', collection: 'read_closed' },
  ],
};

const open = { list_rule: null, view_rule: null };

const closed = {
  name: 'read_closed',
  type: 'base',
  ...Object.fromEntries(['list', 'view', 'create', 'update', 'delete'].map((name) => [`${name}_rule`, ''])),
};

const people = { name: 'read_people', type: 'auth', fields: [], ...open, create_rule: null };

async function makeLibrary(admin: Client) {
  for (const definition of [closed, writers, books, people]) await admin.post('/api/v1/collections', definition);
  const view = { name: 'read_titles', type: 'view', view_query: 'select id, title, kind from read_books', ...open };
  await admin.post('/api/v1/collections', view);
  const writer = await admin.create('read_writers', { name: 'Ada' });
  const book = { title: 'Notes', kind: 'essay', writer: writer.id, helpers: [writer.id] };
  await admin.create('read_books', book);
  await eventually('the document has the collections', async () => {
    const { json } = await admin.get(path);
    return find(json, ['components', 'schemas', 'read_titles.record']) !== undefined;
  });
}

onOneProcess('the document says what answers have', async (t, target) => {
  const admin = await target.admin();
  await makeLibrary(admin);
  const { json: document } = await target.guest.get(path);
  const schema = (name: string): JsonObject => find(document, ['components', 'schemas', name]) as JsonObject;
  const property = (name: string, member: string) => objectAt(schema(name), 'properties')[member];
  const member = (name: string): unknown => property('read_books.record', name);

  await t.test('every record member is required, except those that a rule may hide [http §12.5]', () => {
    const names = ['id', 'name', 'photo', 'papers', 'created', 'updated'];
    assert.deepEqual(schema('read_writers.record').required, names);
    assert.deepEqual(schema('read_titles.record').required, ['id', 'title', 'kind']);
  });

  await t.test('a required field and a list are never null, other fields are [http §12.5]', () => {
    assert.deepEqual(member('title'), { type: 'string', examples: ['plain'] });
    assert.deepEqual(member('kind'), { type: 'string', enum: ['novel', 'essay'] });
    assert.deepEqual(member('tags'), { type: ['array', 'null'], items: { type: 'string', enum: ['x', 'y'] } });
    assert.equal(textAt(member('helpers'), 'type'), 'array');
    assert.deepEqual(member('isbn'), { type: ['string', 'null'] });
    assert.deepEqual(objectAt(member('printed'), 'examples'), [1767225600]);
    const shown = property('read_titles.record', 'kind');
    assert.deepEqual(shown, { type: ['string', 'null'], enum: ['novel', 'essay', null] });
  });

  await t.test('expand names the records that the caller may view [http §12.5]', () => {
    const record = (name: string) => ({ $ref: `#/components/schemas/${name}.record` });
    const { properties } = member('expand') as JsonObject;
    assert.deepEqual(properties, {
      writer: record('read_writers'),
      helpers: { type: 'array', items: record('read_writers') },
    });
    const back = objectAt(property('read_writers.record', 'expand'), 'properties');
    assert.deepEqual(Object.keys(back), ['read_books_via_writer', 'read_books_via_helpers']);
    const parameters = find(document, ['paths', '/api/v1/read_books', 'get', 'parameters']) as JsonObject[];
    const expand = parameters.find(({ name }) => name === 'expand');
    assert.match(String(expand?.description), /: `writer`, `helpers`$/);
  });

  await t.test('a body takes what the server takes [fields §2.2, records §12.3, §17.4]', async () => {
    const pattern = new RegExp(textAt(property('read_books.create', 'isbn'), 'pattern'), 'u');
    for (const [isbn, status] of [
      ['', 201],
      ['9780441013593', 201],
      ['978', 422],
    ] as const) {
      assert.equal(pattern.test(isbn), status === 201, isbn);
      const body = { title: 'x', kind: 'novel', isbn };
      assert.equal((await admin.send('POST', '/api/v1/read_books', { body })).status, status, isbn);
    }
    assert.equal(textAt(property('read_people.create', 'password'), 'type'), 'string');
    assert.equal(property('read_people.create', 'old_password'), undefined);
    assert.ok(property('read_people.update', 'old_password'));
    const account = { email: 'a@example.com', password: 'correct horse battery', old_password: 'x' };
    assert.equal((await admin.send('POST', '/api/v1/read_people', { body: account })).status, 422);
    const parameters = find(document, ['paths', '/api/v1/read_books/{id}', 'put', 'parameters']) as JsonObject[];
    const header = parameters.find(({ name }) => name === 'If-None-Match');
    assert.deepEqual(header?.schema, { type: 'string', pattern: '^\\*$' });
  });

  await t.test('a form has a part for each field, and files as bytes [http §12.5]', () => {
    const content = ['paths', '/api/v1/read_writers', 'post', 'requestBody', 'content'];
    const form = find(document, [...content, 'multipart/form-data', 'schema', 'properties']) as JsonObject;
    assert.deepEqual(Object.keys(form), ['name', 'photo', 'papers', 'secret', '_json']);
    assert.deepEqual(form.photo, { type: 'string', format: 'binary', description: 'the file' });
    assert.deepEqual(objectAt(form, 'papers').items, { type: 'string', format: 'binary' });
    const ofBooks = find(document, ['paths', '/api/v1/read_books', 'post', 'requestBody', 'content']) as JsonObject;
    assert.deepEqual(Object.keys(ofBooks), ['application/json']);
    const ofBatch = ['paths', '/api/v1/batch', 'post', 'requestBody', 'content', 'multipart/form-data', 'schema'];
    assert.deepEqual((find(document, ofBatch) as JsonObject).required, ['operations']);
  });

  await t.test('refusals have an example, a create one with its own field [http §12.5]', () => {
    const refused = objectAt(document, 'components.responses');
    for (const [name, response] of Object.entries(refused))
      assert.match(String(find(response, ['content', 'application/json', 'example', 'code'])), /^[a-z_]+$/, name);
    const answer = find(document, ['paths', '/api/v1/read_books', 'post', 'responses', '422', 'content']);
    const example = find(answer, ['application/json', 'example']) as JsonObject;
    assert.deepEqual(example.details, { title: 'is required' });
  });

  await t.test("the caller's collections come first [http §12.6]", () => {
    const groups = find(document, ['x-tagGroups']) as { name: string; tags: string[] }[];
    assert.deepEqual(
      groups.map(({ name }) => name),
      ['Collections', 'API'],
    );
    assert.ok(groups[0]?.tags.includes('read_books'));
    assert.ok(groups[1]?.tags.includes('webhooks'));
    const tags = (find(document, ['tags']) as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(
      tags,
      groups.flatMap((group) => group.tags),
    );
  });

  await t.test('answers match the document', async () => {
    const findProblem = createFindProblem(document as object);
    const operations = new Map(operationsOf(document).map((operation) => [operation.id, operation]));
    const rows: [id: string, path: string][] = [
      ['list_read_books', '/api/v1/read_books?expand=writer.read_books_via_writer(total:1),helpers'],
      ['list_read_books', '/api/v1/read_books?fields=title'],
      ['list_read_writers', '/api/v1/read_writers?expand=read_books_via_writer,read_books_via_helpers(limit:1)'],
      ['list_read_titles', '/api/v1/read_titles?cursor='],
    ];
    for (const [id, place] of rows) {
      const operation = operations.get(id);
      assert.ok(operation, id);
      assert.equal(findProblem({ operation, path: place }, await target.guest.get(place)), undefined, place);
    }
  });
});
