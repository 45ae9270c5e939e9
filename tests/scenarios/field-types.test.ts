import assert from 'node:assert/strict';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { eventually } from '../harness/eventually.ts';
import { objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const field = (name: string, type: string, options: object = {}) => ({ name, type, options });

onEachTopology('each field type takes its values', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'contacts',
    type: 'base',
    fields: [
      field('mail', 'email', { unique: true, max: 30 }),
      field('site', 'url', { unique: true, min: 10 }),
      field('page', 'editor', { max: 20 }),
      field('place', 'geoPoint'),
      field('seats', 'number', { integer: true, min: -3 }),
      field('days', 'select', { values: ['mo', 'tu', 'we'], multiple: true, max: 2 }),
    ],
  });
  await admin.create('contacts', { mail: 'Ann@example.org', site: 'https://example.org/ann' });
  await admin.create('contacts', { mail: '', site: '' });

  const nothing = { mail: null, site: null, page: null, place: null, seats: null, days: null };
  const create = (body: object): Pick<Scenario, 'request' | 'body'> => ({ request: 'POST /api/v1/contacts', body });
  const takes = (name: string, body: object, shown: object = body): Scenario => ({
    name,
    ...create(body),
    expect: {
      status: 201,
      json: { data: { id: is.uuidV7, ...nothing, ...shown, created: is.now, updated: is.now } },
    },
    events: ['contacts.create'],
    spec: 'fields §3',
  });
  const refuses = (name: string, body: object): Scenario => ({
    name,
    ...create(body),
    expect: refused.invalid(...Object.keys(body)),
    spec: 'fields §3',
  });

  await runScenarios(t, target, [
    takes('an e-mail address', { mail: 'ben@example.org' }),
    refuses('an e-mail address without a domain', { mail: 'ben@example' }),
    refuses('an e-mail address with a space', { mail: 'b en@example.org' }),
    refuses('an e-mail address that is too long', { mail: `${'x'.repeat(30)}@example.org` }),
    refuses('a taken e-mail address in another case', { mail: 'ANN@EXAMPLE.ORG' }),
    takes('a URL', { site: 'http://example.org/ben?x=1' }),
    refuses('a URL of another scheme', { site: 'ftp://example.org' }),
    refuses('a URL that is too short', { site: 'http://a' }),
    refuses('a taken URL', { site: 'https://example.org/ann' }),
    takes('empty texts in unique fields', { mail: '', site: '' }),
    takes('HTML', { page: '<b>Ünd 😀</b>' }),
    refuses('HTML that is too long', { page: 'x'.repeat(21) }),
    takes('a geoPoint', { place: { lat: -90, lng: 180 } }),
    takes('an empty text for a geoPoint, which is null', { place: '' }, { place: null }),
    refuses('a latitude above 90', { place: { lat: 90.5, lng: 0 } }),
    refuses('a geoPoint without lng', { place: { lat: 1 } }),
    takes('a whole number', { seats: 3 }),
    takes('a whole number that a double rounds', { seats: 1e16 }),
    {
      name: 'a fraction in a field for whole numbers',
      ...create({ seats: 1.5 }),
      expect: { status: 422, json: is.containing({ details: { seats: 'must be a whole number' } }) },
      spec: 'fields §3.2',
    },
    refuses('a whole number below min', { seats: -4 }),
    takes('as many values as max', { days: ['we', 'mo'] }),
    takes('repeated values, each of which counts once', { days: ['mo', 'mo', 'tu'] }, { days: ['mo', 'tu'] }),
    refuses('more values than max', { days: ['mo', 'tu', 'we'] }),
    refuses('several wrong values at once', { mail: 5, site: [], page: {}, place: 'here' }),
  ]);
});

onEachTopology('field options are checked when they are defined', async (t, target) => {
  const refuses = (name: string, type: string, options: object, option: string): Scenario => ({
    name,
    as: 'admin',
    request: 'POST /api/v1/collections',
    body: { name: 'never', type: 'base', fields: [field('f', type, options)] },
    expect: refused.invalid(`fields.f.options.${option}`),
    spec: 'fields §1.4',
  });
  await runScenarios(t, target, [
    refuses('an integer that is not a flag', 'number', { integer: 1 }, 'integer'),
    refuses('a default with a fraction for whole numbers', 'number', { integer: true, default: 0.5 }, 'default'),
    refuses('a negative max of a select', 'select', { values: ['a'], max: -1 }, 'max'),
    refuses('a max of a file field that is not a whole number', 'file', { max: 1.5 }, 'max'),
    refuses('min above max of an e-mail address', 'email', { min: 3, max: 2 }, 'min'),
    refuses('min above max of a URL', 'url', { min: 3, max: 2 }, 'min'),
    refuses('a length that is not a whole number', 'url', { max: 1.5 }, 'max'),
    refuses('an invalid max of HTML', 'editor', { max: 0 }, 'max'),
    refuses('min above max of a password', 'password', { min: 3, max: 2 }, 'min'),
    refuses('a flag that is not a boolean', 'autodate', { onCreate: 1 }, 'onCreate'),
    refuses('too many dimensions', 'vector', { dimensions: 4097 }, 'dimensions'),
    refuses('an unknown option', 'editor', { min: 1 }, 'min'),
  ]);
});

onEachTopology('a narrower field counts the rows that violate it', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'narrowed',
    type: 'base',
    fields: [field('mail', 'email'), field('site', 'url'), field('page', 'editor')],
  });
  await admin.create('narrowed', { mail: 'ann@example.org', site: 'http://example.org/long', page: 'a long one' });
  await admin.create('narrowed', { mail: 'ANN@example.org', site: 'http://a.b', page: 'short' });
  await admin.create('narrowed', { mail: '', site: '' });
  const narrows = (name: string, type: string, options: object, option: string, count: string): Scenario => ({
    name: `${type} with ${JSON.stringify(options)}`,
    as: 'admin',
    request: 'PATCH /api/v1/collections/narrowed',
    body: {
      fields: [field('mail', 'email'), field('site', 'url'), field('page', 'editor')].map((one) =>
        one.name === name ? field(name, type, options) : one,
      ),
    },
    expect: {
      status: 422,
      json: is.containing({
        details: { [`fields.${name}.options.${option}`]: is.matching(new RegExp(`^${count} row`)) },
      }),
    },
    spec: 'collections §6.4',
  });
  await runScenarios(t, target, [
    narrows('mail', 'email', { unique: true }, 'unique', '2'),
    narrows('mail', 'email', { max: 10 }, 'max', '2'),
    narrows('site', 'url', { min: 12 }, 'min', '1'),
    narrows('page', 'editor', { max: 6 }, 'max', '1'),
  ]);
});

onEachTopology('autodate fields are set by the server', async (t, target) => {
  const admin = await target.admin();
  const autodate = (name: string, flags: object) => ({ name, type: 'autodate', ...flags });
  await admin.post('/api/v1/collections', { name: 'shelves', type: 'base', fields: [field('name', 'text')] });
  await admin.post('/api/v1/collections', {
    name: 'timed',
    type: 'base',
    history_enabled: true,
    fields: [
      field('title', 'text'),
      { ...autodate('born', { onCreate: true }), required: true },
      autodate('touched', { options: { onUpdate: true } }),
      autodate('plain', {}),
      { name: 'shelf', type: 'relation', collection: 'shelves' },
    ],
  });
  const shelf = await admin.create('shelves', {});
  const record = await admin.create('timed', { title: 'a', born: 5, touched: 'never', shelf: shelf.id });
  assert.deepEqual([record.born, record.touched, record.plain], [record.created, null, record.created]);
  const shown = (more: object) => ({ status: 200, json: { data: { ...record, updated: is.now, ...more } } });

  await runScenarios(t, target, [
    {
      name: 'a field with its flags next to the options',
      as: 'admin',
      request: 'GET /api/v1/collections/timed',
      expect: {
        status: 200,
        json: {
          data: is.containing({
            fields: is.jsonOf([
              is.containing({ name: 'title' }),
              is.containing({ name: 'born', onCreate: true, onUpdate: false, options: {} }),
              is.containing({ name: 'touched', onCreate: false, onUpdate: true, options: {} }),
              is.containing({ name: 'plain', onCreate: true, onUpdate: false }),
              is.containing({ name: 'shelf' }),
            ]),
          }),
        },
      },
      spec: 'fields §3.7',
    },
    {
      name: 'flags that are not booleans',
      as: 'admin',
      request: 'POST /api/v1/collections',
      body: { name: 'never', type: 'base', fields: [{ name: 'f', type: 'date', onCreate: true }] },
      expect: refused.invalid('fields.f.onCreate'),
      spec: 'fields §3.7',
    },
    {
      name: 'a PATCH, which sets the field and ignores the value in the body',
      request: `PATCH /api/v1/timed/${record.id}`,
      body: { title: 'b', born: 1, touched: 1 },
      expect: shown({ title: 'b', touched: is.now }),
      events: ['timed.update'],
      spec: 'fields §3.7',
    },
    {
      name: 'a restore, which sets fields with onUpdate and keeps the time of creation',
      as: 'admin',
      request: `POST /api/v1/timed/${record.id}/restore?version=${record.updated}`,
      expect: shown({ touched: is.now }),
      events: ['timed.update'],
      spec: 'fields §3.7',
    },
    {
      name: 'a filter that compares like a date',
      request: `GET /api/v1/timed?filter=${encodeURIComponent('touched > 1 && born <= @now')}&sort=-touched`,
      expect: { status: 200, json: is.containing({ totalItems: 1 }) },
      spec: 'filters §5.4',
    },
  ]);
  const other = await admin.create('timed', { shelf: shelf.id });
  await admin.send('DELETE', `/api/v1/shelves/${shelf.id}`);
  const cleared = objectAt((await admin.get(`/api/v1/timed/${other.id}`)).json, 'data');
  assert.equal(cleared.shelf, null);
  assert.equal(is.now.fits(cleared.touched), true, 'a cleared relation counts as a write');
});

onEachTopology('a password can be written, but is never shown', async (t, target) => {
  const admin = await target.admin();
  const fields = [field('title', 'text'), field('pin', 'password', { min: 4, max: 40 })];
  await admin.post('/api/v1/collections', { name: 'safes', type: 'base', history_enabled: true, fields });
  await admin.post('/api/v1/collections', {
    name: 'owners',
    type: 'base',
    fields: [{ name: 'safe', type: 'relation', collection: 'safes' }],
  });
  const safe = await admin.create('safes', { title: 'a', pin: 'open sesame' });
  assert.deepEqual(Object.keys(safe), ['id', 'title', 'created', 'updated']);
  await admin.create('owners', { safe: safe.id });
  const path = `/api/v1/safes/${safe.id}`;
  const filtered = (query: string): Scenario => ({
    name: `the parameter ${query}`,
    as: 'admin',
    request: `GET /api/v1/safes?${query}`,
    expect: { status: 400, json: is.containing({ error: is.text }) },
    spec: 'filters §4.2',
  });
  await runScenarios(t, target, [
    {
      name: 'a new password, which the answer does not show',
      request: `PATCH ${path}`,
      body: { pin: 'open barley' },
      expect: { status: 200, json: { data: { ...safe, updated: is.now } } },
      events: ['safes.update'],
      spec: 'fields §3.11',
    },
    ...['pi', 'x'.repeat(41), 5, {}].map(
      (pin): Scenario => ({
        name: `the value ${JSON.stringify(pin).slice(0, 20)}`,
        request: `PATCH ${path}`,
        body: { pin },
        expect: refused.invalid('pin'),
        spec: 'fields §3.11',
      }),
    ),
    filtered(`filter=${encodeURIComponent('pin != null')}`),
    filtered('sort=pin'),
    {
      name: 'a rule on the password',
      as: 'admin',
      request: 'PATCH /api/v1/collections/safes',
      body: { view_rule: 'pin = "x"' },
      expect: refused.invalid('view_rule'),
      spec: 'rules §6.1',
    },
  ]);
  for (const request of [
    path,
    '/api/v1/safes',
    '/api/v1/owners?expand=safe',
    `${path}/history`,
    `${path}?fields=pin`,
  ]) {
    const { status, text } = await admin.send('GET', request);
    assert.equal(status, 200, request);
    assert.doesNotMatch(text, /argon2|"pin"/, request);
  }
  if (target.natsUrl === undefined) return;
  await using bus = await openBusReader(target.natsUrl);
  await eventually('the events of the safe', () => bus.events.some(({ subject }) => subject === 'events.safes.update'));
  const own = bus.events.filter(({ subject }) => /^events\.(safes|owners)\./.test(subject));
  assert.doesNotMatch(JSON.stringify(own), /argon2|"pin"/);
});
