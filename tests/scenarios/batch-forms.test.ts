import assert from 'node:assert/strict';
import { file, multipart, type Part } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { batchPath } from './batch-shop.ts';
import { fileField, namesOf } from './file-forms.ts';

onEachTopology("a form brings the files for a batch's operations", async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.define('batch_papers', [
    fileField('papers', { multiple: true }),
    fileField('cover', { maxSize: 10, mimeTypes: ['text/plain'] }),
    { name: 'title', type: 'text', required: true },
    { name: 'slug', type: 'text', options: { unique: true } },
  ]);
  const send = (...parts: readonly Part[]) => guest.send('POST', batchPath, multipart(...parts));
  const list = (...operations: readonly object[]): Part => ({
    name: 'operations',
    content: JSON.stringify(operations.map((operation) => ({ collection: 'batch_papers', ...operation }))),
  });
  const create = { op: 'create', data: { title: 'x' } };
  const bytesOf = async (id: unknown, name: string) => (await guest.get(`/api/files/batch_papers/${id}/${name}`)).text;

  await t.test('files belong to their operations [batch §1.5]', async () => {
    const operations = list(create, { op: 'create', id: 'two', data: { title: 'y' } }, create);
    const first = await send(
      operations,
      file('0.papers', 'a.txt', 'a'),
      file('1.papers', 'b.txt', 'b'),
      file('0.papers', 'c.txt', 'c'),
    );
    assert.equal(first.status, 200, first.text);
    const [one, two, three] = listAt(first.json, 'data').map(({ data }) => objectAt({ data }, 'data'));
    assert.deepEqual(await Promise.all(namesOf(one ?? {}, 'papers').map((name) => bytesOf(one?.id, name))), ['a', 'c']);
    assert.deepEqual(await Promise.all(namesOf(two ?? {}, 'papers').map((name) => bytesOf('two', name))), ['b']);
    assert.deepEqual(three?.papers, []);
    const kept = namesOf(one ?? {}, 'papers').slice(1);
    const changes = list(
      { op: 'update', id: 'two', data: {} },
      { op: 'upsert', id: 'three', data: { title: 'z' } },
      { op: 'update', id: one?.id, data: { papers: kept } },
    );
    const second = await send(
      changes,
      file('0.papers', 'd.txt', 'd'),
      file('1.cover', 'e.txt', 'e'),
      file('2.papers', 'f.txt', 'f'),
    );
    assert.equal(second.status, 200, second.text);
    const shown = (index: number) => objectAt(second.json, `data.${index}.data`);
    assert.deepEqual(await Promise.all(namesOf(shown(0), 'papers').map((name) => bytesOf('two', name))), ['b', 'd']);
    assert.equal(await bytesOf('three', textAt(shown(1), 'cover')), 'e');
    assert.deepEqual(await Promise.all(namesOf(shown(2), 'papers').map((name) => bytesOf(one?.id, name))), ['c', 'f']);
  });

  const a = file('0.papers', 'a.txt', 'a');
  const refusals: readonly [name: string, parts: readonly Part[], status: number, details: object | undefined][] = [
    [
      'a file without its operation',
      [list(create), file('1.papers', 'a.txt', 'a')],
      422,
      { index: 1, papers: 'is a file without its operation' },
    ],
    ['a file before the operations', [a, list(create)], 400, undefined],
    ['no operations', [a], 400, undefined],
    ['operations twice', [list(create), { ...list(create), filename: 'o.json' }], 400, undefined],
    ['another text', [list(create), { name: '0.title', content: 'x' }], 400, undefined],
    ['another name of a file', [list(create), file('papers', 'a.txt', 'a')], 400, undefined],
    ['operations that are not a list', [{ name: 'operations', content: '{}' }], 422, { operations: 'must be a list' }],
    ['operations with more behind them', [{ name: 'operations', content: '[],"a":1' }], 400, undefined],
    [
      'an unknown field',
      [list(create), file('0.nothing', 'a.txt', 'a')],
      422,
      { index: 0, nothing: 'is not a field of batch_papers' },
    ],
    [
      'a file that is too large',
      [list(create), file('0.cover', 'a.txt', 'x'.repeat(11))],
      422,
      { index: 0, cover: 'may have at most 10 bytes' },
    ],
    ['a file of a delete', [list({ op: 'delete', id: 'two' }), a], 422, { index: 0, papers: 'is a file for a delete' }],
    [
      'a file of an upsert by values',
      [list({ op: 'upsert', on: 'slug', data: { slug: 's', title: 't' } }), a],
      422,
      { index: 0, papers: 'is a file for an operation that does not name its record by id' },
    ],
    ['an unknown collection', [list({ ...create, collection: 'nowhere' }), a], 404, { index: 0 }],
    ['an unknown record', [list({ op: 'update', id: 'nowhere', data: {} }), a], 404, { index: 0 }],
    ['a later operation', [list(create, { op: 'create', data: {} }), a], 422, { index: 1, title: 'is required' }],
  ];
  for (const [name, parts, status, details] of refusals)
    await t.test(`${status}: ${name} [batch §1.5]`, async () => {
      const answer = await send(...parts);
      assert.deepEqual([answer.status, details && at(answer.json, 'details')], [status, details], answer.text);
    });

  for (const part of [{ name: 'gone', content: 'x' }, file('gone', 'a.txt', 'x')])
    await t.test(`400: a ${part.filename ? 'file' : 'text'} without a name [batch §1.5]`, async () => {
      const { rawBody, headers } = multipart(part, list(create));
      const answer = await guest.send('POST', batchPath, {
        rawBody: rawBody.toString().replace('; name="gone"', ''),
        headers,
      });
      assert.equal(answer.status, 400, answer.text);
      assert.match(textAt(answer.json, 'error'), /form part \d has no name/);
    });

  await t.test('operations may be a file part [batch §1.5]', async () => {
    const answer = await send({ ...list(create), filename: 'blob', type: 'application/json' }, a);
    assert.equal(answer.status, 200, answer.text);
  });

  await t.test('no file from a refused batch remains [batch §4.2]', async () => {
    if (target.databaseUrl === undefined) return;
    const dropped = await send(list(create, { op: 'create', data: {} }), a);
    assert.equal(dropped.status, 422);
    // Each file that a refused batch stored is listed until its bytes are gone.
    const pending = async () => (await inDatabase(target, 'select from system.file_removals', [])).length;
    await eventually('all removals are done', async () => (await pending()) === 0);
  });
});
