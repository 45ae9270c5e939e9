import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';

const field = (name: string, type: string, options: object = {}) => ({ name, type, options });

onEachTopology('each type of field takes what it is for', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'contacts',
    type: 'base',
    fields: [
      field('mail', 'email', { unique: true, max: 30 }),
      field('site', 'url', { unique: true, min: 10 }),
      field('page', 'editor', { max: 20 }),
      field('place', 'geoPoint'),
    ],
  });
  await admin.create('contacts', { mail: 'Ann@example.org', site: 'https://example.org/ann' });
  await admin.create('contacts', { mail: '', site: '' });

  const nothing = { mail: null, site: null, page: null, place: null };
  const create = (body: object): Pick<Scenario, 'request' | 'body'> => ({ request: 'POST /api/v1/contacts', body });
  const takes = (name: string, body: object, shown: object = body): Scenario => ({
    name,
    ...create(body),
    expect: {
      status: 201,
      json: { data: { id: is.uuidV7, ...nothing, ...shown, created: is.now, updated: is.now } },
    },
    events: ['contacts.create'],
    spec: 'interface §2.2, contract §8',
  });
  const refuses = (name: string, body: object): Scenario => ({
    name,
    ...create(body),
    expect: refused.invalid(...Object.keys(body)),
    spec: 'interface §2.2',
  });

  await runScenarios(t, target, [
    takes('an e-mail address', { mail: 'ben@example.org' }),
    refuses('an e-mail address without a domain', { mail: 'ben@example' }),
    refuses('an e-mail address with a space', { mail: 'b en@example.org' }),
    refuses('an e-mail address that is too long', { mail: `${'x'.repeat(30)}@example.org` }),
    refuses('an e-mail address that differs from another by its case only', { mail: 'ANN@EXAMPLE.ORG' }),
    takes('an address on the web', { site: 'http://example.org/ben?x=1' }),
    refuses('an address on the web of another scheme', { site: 'ftp://example.org' }),
    refuses('an address on the web that is too short', { site: 'http://a' }),
    refuses('an address on the web that is taken', { site: 'https://example.org/ann' }),
    takes('empty texts for both, of which there may be many', { mail: '', site: '' }),
    takes('HTML', { page: '<b>Ünd 😀</b>' }),
    refuses('HTML that is too long', { page: 'x'.repeat(21) }),
    takes('a place', { place: { lat: -90, lng: 180 } }),
    takes('the empty text for a place as none', { place: '' }, { place: null }),
    refuses('a place beyond the poles', { place: { lat: 90.5, lng: 0 } }),
    refuses('a place without longitude', { place: { lat: 1 } }),
    refuses('several at once', { mail: 5, site: [], page: {}, place: 'here' }),
  ]);
});

onEachTopology('options of fields are checked when they are defined', async (t, target) => {
  const refuses = (name: string, type: string, options: object, option: string): Scenario => ({
    name,
    as: 'admin',
    request: 'POST /api/v1/collections',
    body: { name: 'never', type: 'base', fields: [field('f', type, options)] },
    expect: refused.invalid(`fields.f.options.${option}`),
    spec: 'contract §8',
  });
  await runScenarios(t, target, [
    refuses('min above max of an e-mail address', 'email', { min: 3, max: 2 }, 'min'),
    refuses('min above max of an address on the web', 'url', { min: 3, max: 2 }, 'min'),
    refuses('a length that is no whole number', 'url', { max: 1.5 }, 'max'),
    refuses('a max of HTML that is none', 'editor', { max: 0 }, 'max'),
    refuses('an unknown option', 'editor', { min: 1 }, 'min'),
  ]);
});

onEachTopology('a narrower field counts the rows that stand against it', async (t, target) => {
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
    spec: 'contract §8',
  });
  await runScenarios(t, target, [
    narrows('mail', 'email', { unique: true }, 'unique', '2'),
    narrows('mail', 'email', { max: 10 }, 'max', '2'),
    narrows('site', 'url', { min: 12 }, 'min', '1'),
    narrows('page', 'editor', { max: 6 }, 'max', '1'),
  ]);
});
