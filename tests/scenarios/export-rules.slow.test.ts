import assert from 'node:assert/strict';
import { type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { onEachTopology, replicaCount } from '../harness/stacks/target.ts';
import { createStaff, membersFor, roles } from './staff.ts';

const filtered = (filter: string): string => `filter=${encodeURIComponent(filter)}`;

/** Requests that name a field, a relation or a member that some callers may not see. */
const queries: readonly string[] = [
  '',
  ...[
    'salary',
    'phone',
    'pin',
    'pets',
    'shift',
    'boss',
    'mentor',
    'photo',
    'traits',
    'nothing',
    'password_hash',
  ].flatMap((name) => [
    `fields=${name}`,
    `sort=${name}`,
    `sort=-name,${name}`,
    `expand=${name}`,
    `expand=boss.${name}`,
    filtered(`${name} = "5"`),
    filtered(`${name} != null`),
    filtered(`not (${name} ~ "5")`),
    filtered(`boss.${name} != null`),
    filtered(`count(${name}) > 0`),
    filtered(`exists(staff, ${name} != null && record.name != name)`),
  ]),
  'fields=*,expand.boss.phone&expand=boss',
  'expand=boss,owner',
  'expand=staff_via_boss(sort:name,total:1).owner',
  'expand=staff_via_mentor',
  'expand=notes_via_about',
  filtered('owner = @request.auth.id'),
  filtered('name = @request.query.who'),
];

/** Compares an export with the same request's list: the same refusal, or the same records. */
async function assertLikeList(client: Client, collection: string, query: string, of: string): Promise<void> {
  const path = `/api/v1/records/${collection}`;
  const list = await client.get(`${path}?${query}&perPage=1000`);
  // Filters and sorts select the same records in every format.
  const formats = /^(filter|sort)=/.test(query) ? ['ndjson'] : ['ndjson', 'csv'];
  const [ndjson, csv] = await Promise.all(
    formats.map((format) => client.get(`${path}/export?${query}&format=${format}`)),
  );
  for (const answer of [ndjson, csv])
    assert.equal((answer ?? ndjson)?.status, list.status, `${of} ${query}: ${answer?.text}`);
  if (list.status !== 200) {
    assert.deepEqual(ndjson?.json, list.json, `${of} ${query}`);
    return;
  }
  const lines = ndjson?.text.split('\n').slice(0, -1) ?? [];
  assert.equal(`[${lines.join(',')}]`, dataOf(list.text), `${of} ${query}`);
  if (!csv) return;
  const shown = new Set(lines.flatMap((line) => Object.keys(JSON.parse(line) as object)));
  const columns = csv.text.split('\r\n')[0]?.split(',') ?? [];
  for (const member of shown) assert.ok(columns.includes(member), `${of} ${query}: ${member}`);
}

/** Returns the raw JSON of a list's records. */
const dataOf = (body: string): string => body.slice('{"data":'.length, body.lastIndexOf(',"page":'));

onEachTopology('an export shows what a list shows, and nothing else', async (t, target) => {
  const { users, clients, ada, ownerId } = await createStaff(target);
  const { admin } = clients;
  const note = { name: 'title', type: 'text' };
  const about = { name: 'about', type: 'relation', collection: 'staff', view_rule: '' };
  await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [note, about] });
  await admin.create('notes', { title: 'one', about: ada.id });
  await admin.create('staff', { name: 'Cy', owner: ownerId, phone: '77', pin: '4321' });

  for (const role of roles) {
    await t.test(`${role} [export §1.3]`, async () => {
      for (const query of queries) await assertLikeList(clients[role], 'staff', query, role);
    });

    await t.test(`${role} gets the columns that a record may show [export §3.2]`, async () => {
      const { text } = await clients[role].get('/api/v1/records/staff/export');
      assert.deepEqual(
        new Set(text.split('\r\n')[0]?.split(',')),
        new Set(membersFor[role === 'other' ? 'owner' : role]),
      );
    });
  }

  await t.test('a service key gets what a list gives it, within its collections [export §1.3, keys §5.3]', async () => {
    for (const scopes of [
      ['records:staff:read'],
      ['records:*:read'],
      ['rules:staff'],
      ['records:notes:read'],
      ['files'],
    ]) {
      const { key } = await admin.post('/api/v1/admin/keys', { name: 'exporter', scopes });
      const client = createClient(target.url, String(key));
      for (const query of queries) await assertLikeList(client, 'staff', query, String(scopes));
    }
  });

  await t.test('accounts show no secret of any kind [export §1.3]', async () => {
    for (const role of roles) {
      for (const format of ['csv', 'ndjson', 'json']) {
        for (const query of ['', '&fields=*,password_hash,password,totp_secret,token_key,_revision']) {
          const { status, text } = await clients[role].get(`/api/v1/records/${users}/export?format=${format}${query}`);
          assert.equal(status, role === 'admin' ? 200 : 403);
          assert.doesNotMatch(text, /argon2|password|totp|token|_revision/);
        }
      }
    }
  });

  const rules: readonly (string | null)[] = [
    '',
    'owner = @request.auth.id',
    'salary > 6',
    'boss.name = "Bo"',
    '@request.auth.type = "user" && name != "Bo"',
    '@request.query.who = name',
    'exists(notes, about = record.id && title = "one")',
    '@request.headers.x_who = name',
    null,
  ];
  await t.test('for every list rule [export §1.1]', async () => {
    const apply = async (rule: string | null) => {
      await admin.patch('/api/v1/collections/staff', { list_rule: rule });
      await eventually('the rule applies', async () => {
        const { status } = await clients.guest.get('/api/v1/records/staff/export');
        return (status === 403) === (rule === '');
      });
    };
    for (const rule of rules) {
      // Between two rules that let guests in, a closed one shows when the second applies.
      await apply('');
      if (rule !== '') await apply(rule);
      const check = async () => {
        for (const role of roles)
          for (const query of ['', 'who=Ada', 'sort=phone', 'expand=boss,owner', filtered('phone != "1"')])
            await assertLikeList(clients[role], 'staff', query, `${role} with ${rule}`);
        return true;
      };
      // Other replicas follow a change within a second (collections §9.2).
      await (replicaCount === 1 ? check() : eventually('every replica has the rule', check));
    }
  });
});
