import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { multipart } from '../harness/clients/multipart.ts';
import { at, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, onOneProcess } from '../harness/stacks/target.ts';
import { sendImport } from './import-jobs.ts';

const refused = (status: number, details: Record<string, unknown>, code: unknown = is.code) => ({
  status,
  json: { error: is.text, code, details },
});

const plain = (status: number) => ({ status });

onEachTopology('an import refuses a request', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'refusing',
    type: 'base',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'code', type: 'text', options: { unique: true } },
    ],
    create_rule: null,
  });
  await admin.post('/api/v1/collections', { name: 'seen', type: 'view', view_query: 'select id, title from refusing' });
  const path = '/api/v1/records/refusing/import';
  const send = (
    name: string,
    spec: string,
    query: string,
    rawBody: string | Uint8Array,
    expect: Scenario['expect'],
    type = 'text/csv',
  ): Scenario => ({
    name,
    spec: `import ${spec}`,
    as: 'admin',
    request: `POST ${path}?${query}`,
    rawBody,
    headers: { 'Content-Type': type },
    expect,
  });
  const json = (name: string, spec: string, query: string, rawBody: string, expect: Scenario['expect']) =>
    send(name, spec, query, rawBody, expect, 'application/json');
  const csv = 'title,code\na,b\n';
  const form = multipart({ name: 'title', content: 'a' });
  await runScenarios(t, target, [
    { ...send('of a guest', '§1.1', 'format=csv', csv, plain(401)), as: 'guest' },
    { ...send('of a user', '§1.1', 'format=csv', csv, plain(403)), as: 'user' },
    {
      ...send('of an unknown collection', '§1.1', '', csv, plain(404)),
      request: 'POST /api/v1/records/nowhere/import',
    },
    { ...send('of a view', '§1.1', '', csv, plain(405)), request: 'POST /api/v1/records/seen/import' },
    send('without a format', '§1.4', '', csv, refused(400, { format: is.text }), 'application/octet-stream'),
    send('in an unknown format', '§1.3', 'format=xml', csv, refused(400, { format: is.text })),
    send(
      'with an unknown parameter',
      '§1.3',
      'format=csv&dryrun=1',
      csv,
      refused(422, { dryrun: 'is not an import parameter' }),
    ),
    send('in another format than its type', '§1.4', 'format=json', csv, refused(422, { format: is.text })),
    send(
      'in another format than its body',
      '§1.4',
      'format=ndjson',
      '[{}]',
      refused(422, { format: is.text }),
      'text/plain',
    ),
    send(
      'with lines of JSON as CSV',
      '§1.4',
      'format=csv',
      '{"title":"a"}\n',
      refused(422, { format: is.text }),
      'text/plain',
    ),
    json('with lines of JSON as a list', '§1.4', 'format=json', '{"title":"a"}\n', refused(422, { format: is.text })),
    send(
      'with an unknown column',
      '§2.2',
      '',
      'title,other\na,b\n',
      refused(422, { other: 'is not a field of refusing' }),
    ),
    send('with a column twice', '§2.2', '', 'title,title\na,b\n', refused(422, { title: is.text })),
    json('with an unknown member', '§2.2', 'format=json', '[{"titel":"a"}]', refused(422, { titel: is.text })),
    send('with a map to no field', '§1.3', `map=${encodeURIComponent('{"a":"b"}')}`, csv, refused(422, { a: is.text })),
    send('with a map that is not an object', '§1.3', 'map=[1]', csv, refused(400, { map: is.text })),
    send(
      'with a map of two columns to one field',
      '§1.3',
      `map=${encodeURIComponent('{"a":"title","b":"title"}')}`,
      csv,
      refused(422, { b: is.text }),
    ),
    send('with an unknown mode', '§1.3', 'mode=merge', csv, refused(400, { mode: is.text })),
    send('with `on` without upsert', '§1.3', 'on=code', csv, refused(400, { on: is.text })),
    send('with `on` that is not unique', '§1.3', 'mode=upsert&on=title', csv, refused(400, { on: is.text })),
    send('that keeps what cannot be kept', '§1.3', 'keep=title', csv, refused(400, { keep: is.text })),
    send('with a separator of two characters', '§1.3', 'separator=ab', csv, refused(400, { separator: is.text })),
    send('with a quote as separator', '§1.3', 'separator=%22', csv, refused(400, { separator: is.text })),
    send('with events that are not none', '§1.3', 'events=all', csv, refused(400, { events: is.text })),
    send('in an unknown encoding', '§1.3', 'encoding=ebcdic', csv, refused(400, { encoding: is.text })),
    json('with a separator of JSON', '§1.3', 'format=json&separator=;', '[]', refused(400, { separator: is.text })),
    send('without a body', '§1.2', 'format=csv', '', refused(422, { body: is.text })),
    send(
      'with the body of an unknown import',
      '§1.5',
      `format=csv&upload=${randomUUID()}`,
      '',
      refused(422, { upload: is.text }),
    ),
    send('with a body and an earlier one', '§1.5', `upload=${randomUUID()}`, csv, refused(422, { upload: is.text })),
    {
      ...send('that is compressed', '§1.2', '', gzipSync(csv), plain(415)),
      headers: { 'Content-Type': 'text/csv', 'Content-Encoding': 'gzip' },
    },
    { ...send('as a form', '§1.2', 'format=csv', '', plain(415)), rawBody: form.rawBody, headers: form.headers },
    {
      name: 'a job of nobody',
      spec: 'import §7.2',
      as: 'admin',
      request: `GET /api/v1/jobs/${randomUUID()}`,
      expect: plain(404),
    },
    {
      name: 'a job without a valid id',
      spec: 'import §7.2',
      as: 'admin',
      request: 'GET /api/v1/jobs/x/refused',
      expect: plain(404),
    },
    { name: 'jobs for a guest', spec: 'import §7.2', request: 'GET /api/v1/jobs', expect: plain(401) },
    { name: 'jobs for a user', spec: 'import §7.2', as: 'user', request: 'GET /api/v1/jobs', expect: plain(403) },
    {
      name: 'jobs in an unknown state',
      spec: 'import §7.2',
      as: 'admin',
      request: 'GET /api/v1/jobs?state=x',
      expect: refused(400, { state: is.text }),
    },
    {
      name: 'nothing was written',
      spec: 'import §1.2',
      as: 'admin',
      request: 'GET /api/v1/refusing',
      expect: { status: 200, json: is.containing({ data: [] }) },
    },
    {
      name: 'no job was made',
      spec: 'import §1.2',
      as: 'admin',
      request: 'GET /api/v1/jobs?collection=refusing',
      expect: { status: 200, json: is.containing({ data: [] }) },
    },
  ]);
});

onOneProcess('an import beyond the largest body', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'bounded', type: 'base', fields: [{ name: 'title', type: 'text' }] });
  await admin.patch('/api/v1/admin/settings', { 'jobs.max_body_bytes': '2000' });
  t.after(() => admin.patch('/api/v1/admin/settings', { 'jobs.max_body_bytes': '' }));
  await t.test('is refused [import §1.2]', async () => {
    const answer = await sendImport(admin, 'bounded', { format: 'csv' }, `title\n${'a\n'.repeat(1500)}`);
    assert.equal(answer.status, 413, answer.text);
    assert.match(textAt(answer.json, 'error'), /2000/);
    assert.equal(at((await admin.get('/api/v1/jobs?collection=bounded')).json, 'totalItems'), 0);
  });
});
