import { is } from '../harness/matching.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const rulesOf = (rule: string) =>
  Object.fromEntries(['list', 'view', 'create', 'update', 'delete'].map((name) => [`${name}_rule`, rule]));
const json = { 'Content-Type': 'application/json' };
const broken = { rawBody: '{', headers: json };
const stranger = { headers: { Authorization: 'Bearer expired.or.forged' } };

onEachTopology('refusals have an order', async (t, target) => {
  const admin = await target.admin();
  const fields = [{ name: 'title', type: 'text', required: true }];
  await admin.post('/api/v1/collections', { name: 'open', type: 'base', fields });
  await admin.post('/api/v1/collections', { name: 'closed', type: 'base', fields, ...rulesOf('') });
  await admin.post('/api/v1/collections', { name: 'ruled', type: 'base', fields, ...rulesOf('title = "x"') });
  await admin.post('/api/v1/collections', { name: 'seen', type: 'view', view_query: 'select id, title from open' });
  const rows: readonly (readonly [name: string, request: string, status: number, more?: Partial<Scenario>])[] = [
    ['an unknown collection before a malformed body', 'POST /api/absent', 404, broken],
    ['an unknown collection before a malformed query', 'GET /api/v1/absent?page=x', 404],
    ['a collection name in another case', 'GET /api/Open', 404],
    ['a reserved word as a collection', 'GET /api/v1/records', 404],
    ['a create in a view before a malformed body', 'POST /api/seen', 405, broken],
    ['a change of a view row', 'PATCH /api/seen/x', 405, broken],
    ['a delete of a view row', 'DELETE /api/v1/records/seen/x', 405],
    ['a delete of a collection', 'DELETE /api/v1/open', 405],
    ['a POST to a record', 'POST /api/v1/open/x', 405, { body: {} }],
    ['a closed rule before a malformed body', 'POST /api/closed', 403, broken],
    ['a closed rule before a malformed query', 'GET /api/closed?page=x', 403],
    ['a closed rule before a missing record', 'GET /api/closed/x', 403],
    ['a closed rule before a missing record to change', 'PATCH /api/closed/x', 403, broken],
    ['a closed rule before a missing record to delete', 'DELETE /api/closed/x', 403],
    ['a closed rule for a user', 'GET /api/closed', 403, { as: 'user' }],
    ['a closed rule with an invalid token', 'GET /api/closed', 401, stranger],
    ['a list rule, which filters', 'GET /api/ruled', 200, { as: 'user' }],
    ['a create rule that does not hold', 'POST /api/ruled', 403, { body: { title: 'y' } }],
    [
      'a create rule that does not hold, with an invalid token',
      'POST /api/ruled',
      401,
      { ...stranger, body: { title: 'y' } },
    ],
    ['a create by an admin, who passes every rule', 'POST /api/ruled', 201, { as: 'admin', body: { title: 'y' } }],
    ['a missing record before an expression', 'GET /api/ruled/x', 404],
    ['a malformed query before an expression', 'GET /api/ruled?page=x', 400],
    ['an invalid token where none is needed', 'GET /api/open', 200, stranger],
    ['a malformed body before a missing record', 'PATCH /api/open/x', 400, broken],
    ['a missing record before a refused field', 'PATCH /api/open/x', 404, { body: { colour: 1 } }],
    ['a missing record before If-Match', 'PATCH /api/open/x', 404, { body: {}, headers: { 'If-Match': '"1"' } }],
    ['a missing record with If-Match: *', 'DELETE /api/open/x', 404, { headers: { 'If-Match': '*' } }],
    [
      'a body of another type',
      'POST /api/open',
      415,
      { rawBody: 'title=x', headers: { 'Content-Type': 'text/plain' } },
    ],
    ['a body that is too large', 'POST /api/open', 413, { body: { title: 'x'.repeat(1_100_000) } }],
    ['an unknown route', 'GET /nowhere', 404],
  ];
  await runScenarios(
    t,
    target,
    rows.map(
      ([name, request, status, more]): Scenario => ({
        name,
        request,
        expect: {
          status,
          ...(status >= 400 && { json: is.containing({ error: is.text, code: is.matching(/^[a-z_]+$/) }) }),
          ...(status === 401 && { headers: { 'www-authenticate': 'Bearer' } }),
          ...(status === 405 && request.includes('seen') && { headers: { allow: 'GET, HEAD' } }),
        },
        ...(status === 201 && { events: ['ruled.create'] }),
        spec: 'records §13',
        ...more,
      }),
    ),
  );
});
