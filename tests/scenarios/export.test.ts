import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { listAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { createUsers } from './users.ts';

const text = encodeURIComponent;
const noRecords = text('title = "none"');

onEachTopology('exports', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'ports', type: 'base', fields: [{ name: 'town', type: 'text' }] });
  await admin.post('/api/v1/collections', {
    name: 'ships',
    type: 'base',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'tons', type: 'number' },
      { name: 'afloat', type: 'bool' },
      { name: 'built', type: 'date' },
      { name: 'kinds', type: 'select', options: { values: ['sail', 'steam'], multiple: true } },
      { name: 'port', type: 'relation', collection: 'ports' },
      { name: 'log', type: 'json' },
      { name: 'place', type: 'geoPoint' },
      { name: 'course', type: 'vector', options: { dimensions: 2 } },
      { name: 'code', type: 'text', options: { encrypted: true } },
    ],
    list_rule: 'title != "hidden"',
  });
  const { id: port } = await admin.create('ports', { town: 'Kiel' });
  const first = await admin.create('ships', {
    title: 'Ada, "the\r\nsecond"',
    tons: -1.5e300,
    afloat: true,
    built: '1969-12-31T23:59:59Z',
    kinds: ['steam', 'sail'],
    port,
    log: { a: ['=1', null] },
    place: { lat: 54.3, lng: 10.1 },
    course: [1, -0.5],
    code: '=secret',
  });
  const second = await admin.create('ships', { title: '', code: '' });
  const third = await admin.create('ships', { title: "'=SUM(A1)" });
  await admin.create('ships', { title: 'hidden' });
  const path = '/api/v1/records/ships/export';
  const read = async (query: string, headers: Record<string, string> = {}) => {
    const answer = await target.guest.send('GET', `${path}?${query}`, { headers });
    assert.equal(answer.status, 200, answer.text);
    return answer.text;
  };
  const times = ({ created, updated }: typeof first) => `${created},${updated}`;
  const header = 'id,title,tons,afloat,built,kinds,port,log,place,course,code,created,updated\r\n';

  await t.test('CSV has a column for each member and a line for each record [export §3.3]', async () => {
    assert.equal(
      await read('format=csv&sort=created,id'),
      `${header}${[
        `${first.id},"Ada, ""the\r\nsecond""",-1.5e+300,true,-1,"[""steam"",""sail""]",${port},"{""a"":[""=1"",null]}","{""lat"":54.3,""lng"":10.1}","[1,-0.5]",'=secret,${times(first)}`,
        `${second.id},"",,,,,,,,,"",${times(second)}`,
        `${third.id},''=SUM(A1),,,,,,,,,,${times(third)}`,
      ].join('\r\n')}\r\n`,
    );
  });

  await t.test('`raw` does not change texts [export §3.4]', async () => {
    const rows = await read('raw=1&fields=title,code&sort=created,id');
    assert.match(rows, /,=secret\r\n/);
    assert.match(rows, /,'=SUM\(A1\),\r\n/);
  });

  const list = async () =>
    listAt((await target.guest.get('/api/v1/ships?perPage=100&sort=created,id')).json, 'data') as object[];

  await t.test("NDJSON has a get's JSON on each line [export §2.1]", async () => {
    const lines = (await read('format=ndjson&sort=created,id')).split('\n');
    assert.equal(lines.pop(), '');
    const gets = await Promise.all(
      [first, second, third].map(async ({ id }) => (await target.guest.get(`/api/v1/ships/${id}`)).text),
    );
    assert.deepEqual(
      lines,
      gets.map((body) => body.slice('{"data":'.length, -1)),
    );
  });

  await t.test('JSON is one array [export §2.1]', async () => {
    assert.deepEqual(JSON.parse(await read('format=json&sort=created,id')), await list());
  });

  await t.test('an empty collection gives an empty export in each format [export §2.3]', async () => {
    assert.equal(await read(`filter=${noRecords}`), header);
    assert.equal(await read(`format=ndjson&filter=${noRecords}`), '');
    assert.deepEqual(JSON.parse(await read(`format=json&filter=${noRecords}`)), []);
  });

  await t.test('CSV has expanded records as JSON in its last column [export §3.2]', async () => {
    const rows = await read('fields=title,expand.port.town&expand=port&sort=created,id');
    assert.match(rows, /^id,title,expand\r\n/);
    assert.ok(rows.includes(`,"{""port"":{""id"":""${port}"",""town"":""Kiel""}}"\r\n`), rows);
    assert.ok(rows.includes(`${second.id},"",{}\r\n`), rows);
  });

  await t.test('the answer is compressed for a client that takes gzip [export §2.2]', async () => {
    const plain = await read('sort=id');
    for (const [accepted, isCompressed] of [
      ['gzip', true],
      ['deflate, GZIP;q=0.5', true],
      ['br, *', true],
      ['identity', false],
      ['gzip;q=0, *', false],
    ] as const) {
      const answer = await fetch(`${target.url}${path}?sort=id`, { headers: { 'Accept-Encoding': accepted } });
      assert.equal(answer.headers.get('content-encoding'), isCompressed ? 'gzip' : null, accepted);
      assert.equal(answer.headers.get('vary'), 'Origin, Accept-Encoding');
      assert.equal(await answer.text(), plain, accepted);
    }
    const bytes = await rawBytes(`${target.url}${path}?sort=id`);
    assert.equal(gunzipSync(bytes).toString(), plain);
  });

  await t.test('an account shows what a list shows [export §1.3]', async () => {
    const users = await createUsers(target);
    await admin.create(users, { email: 'ada@example.com', password: 'a long and winding password', nick: '@ada' });
    const rows = await admin.get(`/api/v1/records/${users}/export`);
    assert.match(
      rows.text,
      /^id,email,verified,nick,anonymous,created,updated\r\n[^,]+,ada@example.com,false,'@ada,false,/,
    );
    assert.equal((await target.guest.get(`/api/v1/records/${users}/export`)).status, 403);
  });

  await t.test('a view can be exported [export §1.1]', async () => {
    await admin.post('/api/v1/collections', {
      name: 'sums',
      type: 'view',
      list_rule: null,
      view_query: `select title as id, count(*) as ships, json_build_object('a', E'x\\ny') as data from ships group by title`,
    });
    const rows = await target.guest.get('/api/v1/records/sums/export?format=ndjson&filter=ships%3E0&sort=id');
    assert.equal(rows.status, 200, rows.text);
    const lines = rows.text.trimEnd().split('\n');
    assert.equal(lines.length, 4);
    assert.deepEqual(JSON.parse(lines[0] ?? ''), { id: '', ships: 1, data: { a: 'x\ny' } });
  });

  const head = (name: string, query: string, type: string, file: string): Scenario => ({
    name,
    request: `HEAD ${path}?${query}`,
    expect: {
      status: 200,
      headers: {
        'content-type': type,
        'content-disposition': `attachment; filename="${file}"`,
        'cache-control': 'private, no-store',
        'content-length': null,
      },
    },
    spec: 'export §2.2',
  });
  const refusedFor = (name: string, request: string, details: object): Scenario => ({
    name,
    request,
    expect: { status: 400, json: is.containing({ code: 'malformed_request', details }) },
    spec: 'export §5.1',
  });
  await runScenarios(t, target, [
    head('the head of CSV', '', 'text/csv; charset=utf-8; header=present', 'ships.csv'),
    head('the head of NDJSON', 'format=ndjson', 'application/x-ndjson; charset=utf-8', 'ships.ndjson'),
    head('the head of JSON', 'format=json', 'application/json; charset=utf-8', 'ships.json'),
    refusedFor('an unknown format', `GET ${path}?format=xml`, { format: 'must be one of csv, ndjson, json' }),
    refusedFor('an unknown sort', `GET ${path}?sort=nothing`, is.anything),
    refusedFor('an invalid filter', `GET ${path}?filter=${text('title =')}`, is.anything),
    refusedFor('an invalid expand', `GET ${path}?expand=title`, is.anything),
    refusedFor('a search', `GET ${path}?search=ship`, { search: 'is not for exports' }),
    refusedFor('a vector', `GET ${path}?nearVector=[1]&nearVectorField=v`, { nearVector: 'is not for exports' }),
    refusedFor('an invalid switch', `GET ${path}?raw=2`, { raw: 'must be 1, true, 0 or false' }),
    {
      name: 'an unknown collection',
      request: 'GET /api/v1/records/nowhere/export',
      expect: refused.notFound,
      spec: 'export §5.1',
    },
    {
      name: 'the short path',
      request: 'GET /api/ships/export?format=json',
      expect: { status: 200, json: [is.anything, is.anything, is.anything] },
      spec: 'records §1.1',
    },
    {
      name: 'a write',
      request: `DELETE ${path}`,
      expect: { status: 405, headers: { allow: is.matching(/GET/) } },
      spec: 'http §1.3',
    },
  ]);
});

/** Reads an answer as it is sent. */
async function rawBytes(url: string): Promise<Buffer> {
  const [answer] = await once(get(url, { headers: { 'Accept-Encoding': 'gzip' } }), 'response');
  return buffer(answer);
}
