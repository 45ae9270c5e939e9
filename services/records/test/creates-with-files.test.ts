import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '@recordbus/shared/testing';
import { fileKey } from '@recordbus/storage';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const boundary = 'between-the-parts';

const form = (title: string, ...filenames: readonly string[]) =>
  [
    `content-disposition: form-data; name="title"\r\n\r\n${title}`,
    ...filenames.map((name) => {
      const bytes = name.startsWith('long') ? 'x'.repeat(100_000) : 'the bytes';
      return `content-disposition: form-data; name="scans"; filename="${name}"\r\n\r\n${bytes}`;
    }),
  ]
    .map((part) => `--${boundary}\r\n${part}\r\n`)
    .join('')
    .concat(`--${boundary}--\r\n`);

describe('a create with files', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;
  const papers = testCollection(
    'papers',
    [
      { name: 'title', writeRule: 'title != "closed"' },
      { name: 'scans', type: 'file', options: { multiple: true } },
    ],
    { rules: { list: null, view: null, create: 'title != "secret"', update: null, delete: null } },
  );

  before(async () => {
    records = await startRecords([papers]);
    // The announcement of a file with this name is removed at once, like that of an upload that took too long.
    for (const text of [
      `create function forget_announced() returns trigger language plpgsql as $$
        begin delete from system.file_removals where id = new.id; return null; end $$`,
      `create trigger forget_announced after insert on system.file_removals
        for each row when (new.name like 'late%') execute function forget_announced()`,
    ])
      await records.database.query({ text, values: [] });
  });
  after(() => records?.stop());

  const create = (title: string, filenames: readonly string[], headers = {}) =>
    records.send('POST', '/api/papers', {
      body: form(title, ...filenames),
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers },
    });
  const announced = async () =>
    (await records.database.query({ text: 'select from system.file_removals', values: [] })).length;
  const titles = async () => (await records.send('GET', '/api/papers?sort=title')).rows.map(({ title }) => title);

  for (const [about, headers] of [
    ['in one statement', {}],
    ['with its answer', { 'x-service-idempotency-key': 'k1' }],
  ] as const)
    it(`keeps all of them (${about}) [files §1.2]`, async () => {
      const { status, text, record } = await create(about, ['a.txt', 'b.txt'], headers);
      assert.deepEqual([status, await announced()], [201, 0], text);
      const names = Array.isArray(record.scans) ? record.scans : [];
      assert.equal(names.length, 2);
      for (const name of names) {
        const key = fileKey(papers.id, record.id, name) ?? assert.fail(name);
        assert.deepEqual(await records.storage.find(key), { sizeBytes: 9 });
      }
    });

  it('stores their names in the order of their parts [files §3.1]', async () => {
    const { text, record } = await create('ordered', ['a.txt', 'long.txt', 'b.txt', 'long-2.txt']);
    assert.match(String(record?.scans), /^a_\w+\.txt,long_\w+\.txt,b_\w+\.txt,long_2_\w+\.txt$/, text);
  });

  it('takes a form without files', async () => {
    assert.deepEqual([(await create('none', [])).status, await announced()], [201, 0]);
  });

  for (const [about, title, filenames, status, code] of [
    ['one that was removed meanwhile', 'late', ['a.txt', 'late.txt'], 409, 'upload_expired'],
    ['the create rule', 'secret', ['a.txt'], 403, 'forbidden'],
    ['a write rule', 'closed', ['a.txt'], 403, 'forbidden'],
  ] as const)
    it(`writes nothing and keeps none because of ${about} [files §1.2]`, async () => {
      const before = await titles();
      const answer = await create(title, filenames);
      assert.deepEqual([answer.status, answer.json.code, await titles()], [status, code, before], answer.text);
      await eventually(async () => (await announced()) === 0);
    });
});
