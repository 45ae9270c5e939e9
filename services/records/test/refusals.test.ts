import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RecordsFixture, type Sent, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const closed = { list: '', view: '', create: '', update: '', delete: '' };
const expression = 'title = "x"';
const ruled = { list: expression, view: expression, create: expression, update: expression, delete: expression };

describe('the order of refusals [records §13]', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;
  let closedId: string;

  before(async () => {
    const title = [{ name: 'title', required: true }];
    records = await startRecords([
      testCollection('open', title),
      testCollection('closed', title, { rules: closed }),
      testCollection('ruled', title, { rules: ruled }),
      testCollection('seen', title, { type: 'view' }),
    ]);
    const made = await records.send('POST', '/api/closed', { as: 'admin', body: { title: 'x' } });
    closedId = made.record.id;
  });
  after(() => records?.stop());

  const rows: [string, string, string, Sent, number][] = [
    ['an unknown collection before a malformed body', 'POST', '/api/absent', { body: '{' }, 404],
    ['an unknown collection before a malformed query', 'GET', '/api/v1/absent?page=x', {}, 404],
    ['a collection name in another case', 'GET', '/api/Open', {}, 404],
    ['a reserved word as a collection', 'GET', '/api/v1/records', {}, 404],
    ['a create in a view before a malformed body', 'POST', '/api/seen', { body: '{' }, 405],
    ['a change of a view row', 'PATCH', '/api/seen/x', { body: '{' }, 405],
    ['a delete of a view row', 'DELETE', '/api/v1/records/seen/x', {}, 405],
    ['a delete of a collection', 'DELETE', '/api/v1/open', {}, 405],
    ['a POST to a record', 'POST', '/api/v1/open/x', { body: {} }, 405],
    ['a closed rule before a malformed body', 'POST', '/api/closed', { body: '{' }, 403],
    ['a closed rule before a malformed query', 'GET', '/api/closed?page=x', {}, 403],
    ['a closed rule before a missing record', 'GET', '/api/closed/x', {}, 403],
    ['a closed rule before a missing record to change', 'PATCH', '/api/closed/x', { body: '{' }, 403],
    ['a closed rule before a missing record to delete', 'DELETE', '/api/closed/x', {}, 403],
    ['a closed rule for a user', 'GET', '/api/closed', { as: 'user' }, 403],
    ['a closed rule with an invalid token', 'GET', '/api/closed', { as: 'stranger' }, 401],
    ['a list rule, which filters', 'GET', '/api/ruled', { as: 'user' }, 200],
    ['a create rule that does not hold', 'POST', '/api/ruled', { body: { title: 'y' } }, 403],
    [
      'a create rule that does not hold, with an invalid token',
      'POST',
      '/api/ruled',
      { as: 'stranger', body: { title: 'y' } },
      401,
    ],
    ['a create by an admin, who passes every rule', 'POST', '/api/ruled', { as: 'admin', body: { title: 'y' } }, 201],
    ['a missing record before an expression', 'GET', '/api/ruled/x', {}, 404],
    ['a malformed query before an expression', 'GET', '/api/ruled?page=x', {}, 400],
    ['an invalid token where none is needed', 'GET', '/api/open', { as: 'stranger' }, 200],
    ['a malformed body before a missing record', 'PATCH', '/api/open/x', { body: '[]' }, 400],
    ['a missing record before a refused field', 'PATCH', '/api/open/x', { body: { colour: 1 } }, 404],
    ['a missing record before If-Match', 'PATCH', '/api/open/x', { body: {}, headers: { 'if-match': '"1"' } }, 404],
    ['a missing record with If-Match: *', 'DELETE', '/api/open/x', { headers: { 'if-match': '*' } }, 404],
    [
      'a body of another type',
      'POST',
      '/api/open',
      { body: 'title=x', headers: { 'content-type': 'text/plain' } },
      415,
    ],
    ['a body that is too large', 'POST', '/api/open', { body: { title: 'x'.repeat(1_100_000) } }, 413],
    ['an unknown route', 'GET', '/nowhere', {}, 404],
  ];
  for (const [title, method, path, sent, expected] of rows) {
    it(`${title}: ${expected}`, async () => {
      const { status, json, headers } = await records.send(method, path, sent);
      assert.equal(status, expected, JSON.stringify(json));
      if (expected >= 400) {
        assert.equal(typeof json.error, 'string');
        assert.match(json.code ?? '', /^[a-z_]+$/);
      }
      if (expected === 401) assert.equal(headers.get('www-authenticate'), 'Bearer');
    });
  }

  it('names the methods of a view', async () => {
    const { headers } = await records.send('POST', '/api/seen', { body: {} });
    assert.equal(headers.get('allow'), 'GET, HEAD');
  });

  it('admits admins past every closed rule', async () => {
    const as = 'admin';
    for (const [method, path, expected] of [
      ['GET', '/api/closed', 200],
      ['GET', `/api/closed/${closedId}`, 200],
      ['PATCH', `/api/closed/${closedId}`, 200],
      ['DELETE', `/api/closed/${closedId}`, 200],
    ] as const) {
      const body = method === 'PATCH' ? { title: 'y' } : undefined;
      assert.equal((await records.send(method, path, { as, body })).status, expected, method);
    }
  });
});
