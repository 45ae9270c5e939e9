import assert from 'node:assert/strict';
import { find } from '../fuzz/operations.ts';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, objectAt, textAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onOneProcess, type Target } from '../harness/stacks/target.ts';

const path = '/api/v1/openapi.json';
const spec = 'http §12.7';

const wares = {
  name: 'made_wares',
  type: 'base',
  fields: [
    { name: 'title', type: 'text', required: true, options: { unique: true } },
    { name: 'stars', type: 'number' },
    { name: 'sold', type: 'date' },
    { name: 'tags', type: 'select', options: { values: ['x', 'y'], multiple: true } },
    { name: 'like', type: 'relation', collection: 'made_wares', options: { multiple: true } },
    { name: 'photo', type: 'file' },
    { name: 'any', type: 'json' },
  ],
};
const people = {
  name: 'made_people',
  type: 'auth',
  create_rule: null,
  fields: [{ name: 'nick', type: 'text', required: true }],
};

async function documents(target: Target) {
  const admin = await target.admin();
  for (const collection of [wares, people]) await admin.post('/api/v1/collections', collection);
  await eventually('the document has the collections', async () =>
    (await target.guest.get(path)).text.includes('made_people.create'),
  );
  return {
    guest: (await target.guest.get(path)).json as JsonObject,
    admin: (await admin.get(path)).json as JsonObject,
    older: (await admin.get(`${path}?version=3.0`)).json as JsonObject,
  };
}

const dataMembers = new Set(['example', 'examples', 'default', 'enum', 'required']);

/** Calls back with every schema in a document, and where it is. */
function eachSchema(document: JsonObject, visit: (schema: JsonObject, place: string) => void): void {
  const walk = (value: unknown, place: string, isSchema: boolean): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isSchema && !Array.isArray(value)) visit(value as JsonObject, place);
    for (const [name, inner] of Object.entries(value)) {
      if (dataMembers.has(name) && isSchema) continue;
      const isBelow = ['schema', 'items', 'additionalProperties'].includes(name);
      if (isSchema && name === 'properties')
        for (const [member, of] of Object.entries(inner as JsonObject)) walk(of, `${place}/${member}`, true);
      else if (isSchema && ['oneOf', 'anyOf', 'allOf'].includes(name))
        for (const [index, of] of (inner as unknown[]).entries()) walk(of, `${place}/${name}/${index}`, true);
      else walk(inner, `${place}/${name}`, isBelow);
    }
  };
  walk(document.paths, 'paths', false);
  for (const [name, schema] of Object.entries(objectAt(document, 'components.schemas'))) walk(schema, name, true);
}

onOneProcess('client generators can read the document', async (t, target) => {
  const { guest, admin, older } = await documents(target);
  const schema = (document: JsonObject, name: string) => find(document, ['components', 'schemas', name]) as JsonObject;

  await t.test(`a value has one type, or one and null [${spec}]`, () => {
    let seen = 0;
    eachSchema(admin, ({ type, anyOf, const: constant, $defs }, place) => {
      seen += 1;
      assert.notEqual(type, 'null', place);
      if (Array.isArray(type)) assert.ok(type.length === 2 && type[1] === 'null', `${place}: ${type}`);
      assert.deepEqual([anyOf, constant, $defs], [undefined, undefined, undefined], place);
    });
    assert.ok(seen > 1000);
    assert.deepEqual(objectAt(schema(admin, 'made_wares.create'), 'properties.sold').type, ['integer', 'null']);
  });

  await t.test(`every list says what its items are, and every number how wide it is [${spec}]`, () => {
    eachSchema(admin, ({ type, items, format }, place) => {
      const [own] = [type].flat();
      if (own === 'array') assert.ok(items && Object.keys(items).length > 0, place);
      if (own === 'integer' || own === 'number') assert.match(String(format), /^(int64|double)$/, place);
    });
  });

  await t.test(`bodies and answers are named components [${spec}]`, () => {
    for (const [place, item] of Object.entries(objectAt(admin, 'paths')))
      for (const [method, operation] of Object.entries(item as JsonObject)) {
        const body = find(operation, ['requestBody', 'content', 'application/json', 'schema']) as
          | JsonObject
          | undefined;
        if (body) assert.match(String(body.$ref), /^#\/components\/schemas\//, `${method} ${place}`);
        for (const status of ['200', '201', '202']) {
          const answer = find(operation, ['responses', status, 'content', 'application/json', 'schema']);
          if (answer !== undefined)
            assert.match(textAt(answer, '$ref'), /^#\/components\/schemas\//, `${method} ${place}`);
        }
        assert.ok(find(operation, ['responses', '431']), `${method} ${place}`);
      }
    const text = JSON.stringify(admin);
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      assert.ok(schema(admin, name), name);
  });

  await t.test(`a page by number and a page by cursor are two components [${spec}]`, () => {
    const { oneOf } = schema(admin, 'made_wares.listAnswer');
    assert.deepEqual(oneOf, [
      { $ref: '#/components/schemas/made_wares.page' },
      { $ref: '#/components/schemas/made_wares.cursorPage' },
    ]);
    assert.deepEqual(schema(admin, 'made_wares.page').required, [
      'data',
      'page',
      'perPage',
      'totalItems',
      'totalPages',
    ]);
    assert.deepEqual(schema(admin, 'made_wares.cursorPage').required, ['data', 'perPage', 'next']);
  });

  await t.test(`writes require a body, and PUT with on takes no form [${spec}]`, () => {
    const bodyOf = (place: string, method: string) =>
      find(admin, ['paths', place, method, 'requestBody']) as JsonObject;
    for (const [place, method] of [
      ['/api/v1/made_wares', 'post'],
      ['/api/v1/made_wares', 'put'],
      ['/api/v1/made_wares/{id}', 'patch'],
      ['/api/v1/made_wares/{id}', 'put'],
    ] as const) {
      const body = bodyOf(place, method);
      assert.equal(body.required, true, `${method} ${place}`);
      const takesForm = Object.keys(objectAt(body, 'content')).includes('multipart/form-data');
      assert.equal(takesForm, !(place.endsWith('wares') && method === 'put'), `${method} ${place}`);
    }
  });

  await t.test('only an admin creates an account without a password [http §12.5]', async () => {
    assert.deepEqual(schema(guest, 'made_people.create').required, ['email', 'nick', 'password']);
    assert.deepEqual(schema(admin, 'made_people.create').required, ['email', 'nick']);
    const body = { email: 'ada@example.com', nick: 'ada' };
    assert.equal((await target.guest.send('POST', '/api/v1/made_people', { body })).status, 422);
  });

  await t.test('register and files/token name their members [http §12.5]', () => {
    const registration = schema(guest, 'PostAuthByCollectionRegisterBody');
    assert.deepEqual(
      [registration.required, Object.keys(objectAt(registration, 'properties'))],
      [
        ['email', 'password'],
        ['email', 'password', 'captcha'],
      ],
    );
    assert.deepEqual(objectAt(schema(guest, 'PostFilesTokenBody'), 'dependentRequired').id, ['collection', 'filename']);
  });

  await t.test(`version=3.0 has no member from newer versions [${spec}]`, () => {
    assert.equal(older.openapi, '3.0.3');
    eachSchema(older, (one, place) => {
      assert.ok(one.type === undefined || typeof one.type === 'string', place);
      for (const name of ['examples', 'const', 'patternProperties', 'contentMediaType', 'dependentRequired'])
        assert.ok(!(name in one), `${place}: ${name}`);
      if (one.$ref !== undefined) assert.deepEqual(Object.keys(one), ['$ref'], place);
    });
    assert.equal(objectAt(schema(older, 'made_wares.record'), 'properties.stars').nullable, true);
    assert.deepEqual(Object.keys(objectAt(older, 'paths')), Object.keys(objectAt(admin, 'paths')));
  });

  await runScenarios(t, target, [
    {
      name: 'another version is refused',
      request: `GET ${path}?version=2.0`,
      expect: refused.malformedWith({ version: 'must be 3.1 or 3.0' }),
      spec,
    },
  ]);
});
