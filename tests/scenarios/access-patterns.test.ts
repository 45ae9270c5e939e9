import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, objectAt, textAt } from '../harness/json.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { make, path, text } from './collection-changes.ts';
import { auth, clientOf, password } from './users.ts';

const relation = (name: string, collection: string) => ({ name, type: 'relation', collection });
const callers = ['guest', 'outsider', 'member', 'editor', 'boss'] as const;
type CallerName = (typeof callers)[number];

/** An access pattern: the rule, and the documents that each caller sees. Editors are members with a role. */
interface Pattern {
  readonly name: string;
  readonly rule: string;
  readonly sees: Readonly<Record<CallerName, string>>;
}

/** Of the documents, `own` is the member's, `team` the editor's, and `far` of another organization; `none` lacks all. */
const patterns: readonly Pattern[] = [
  {
    name: 'owner',
    rule: 'author = @request.auth.id',
    sees: { guest: '', outsider: 'far', member: 'own', editor: 'team', boss: '' },
  },
  {
    name: 'member',
    rule: 'exists(memberships, user = @request.auth.id && team = record.team)',
    sees: { guest: '', outsider: 'far', member: 'own team', editor: 'own team', boss: '' },
  },
  {
    name: 'member_by_path',
    rule: 'team in @request.auth.memberships_via_user.team',
    sees: { guest: '', outsider: 'far', member: 'own team', editor: 'own team', boss: '' },
  },
  {
    name: 'role',
    rule: 'exists(memberships, user = @request.auth.id && team = record.team && role in ("editor", "owner"))',
    sees: { guest: '', outsider: '', member: '', editor: 'own team', boss: '' },
  },
  {
    name: 'public_or_member',
    rule: 'public = true || exists(memberships, user = @request.auth.id && team = record.team)',
    sees: { guest: 'none', outsider: 'far none', member: 'none own team', editor: 'none own team', boss: 'none' },
  },
  {
    name: 'manager',
    rule: 'author.manager = @request.auth.id',
    sees: { guest: '', outsider: '', member: '', editor: '', boss: 'own team' },
  },
  {
    name: 'tenant',
    rule: 'org = @request.auth.org',
    sees: { guest: '', outsider: 'far', member: 'own team', editor: 'own team', boss: '' },
  },
  {
    name: 'group_of_groups',
    rule: 'exists(memberships, user = @request.auth.id && (team = record.team || team = record.team.parent))',
    sees: { guest: '', outsider: 'far', member: 'own team', editor: 'own team', boss: 'own team' },
  },
  {
    name: 'not_blocked',
    rule: 'not exists(blocks, by = record.author && who = @request.auth.id)',
    sees: {
      guest: '',
      outsider: 'far none team',
      member: 'far none own team',
      editor: 'far none own team',
      boss: 'far none own team',
    },
  },
  {
    name: 'time_window',
    rule: '@request.auth.id != "" && opens <= @now && (closes = null || closes > @now)',
    sees: { guest: '', outsider: 'own team', member: 'own team', editor: 'own team', boss: 'own team' },
  },
];

onEachTopology('access patterns need no extension', async (t, target) => {
  const { clients, ids } = await defineTeams(target);
  const admin = await target.admin();
  for (const { name, rule, sees } of patterns) {
    const documents = await defineDocuments(admin, ids, { name: `docs_${name}`, rule });
    for (const caller of callers)
      await t.test(`${name}: the ${caller} sees: ${sees[caller] || 'nothing'} [rules §2.2, §2.3]`, () =>
        assertSees(clients[caller], documents, sees[caller]),
      );
  }

  await t.test('a demotion takes effect at the next request [rules §4.1]', async () => {
    const read = `/api/v1/docs_role?sort=title`;
    assert.equal(await titlesOf(clients.editor, read), 'own team');
    await admin.patch(`/api/v1/memberships/${ids.editorship}`, { role: 'viewer' });
    assert.equal(await titlesOf(clients.editor, read), '');
    const tenants = `/api/v1/docs_tenant?sort=title`;
    assert.equal(await titlesOf(clients.boss, tenants), '');
    await admin.patch(`/api/v1/people/${ids.boss}`, { org: ids.org });
    assert.equal(await titlesOf(clients.boss, tenants), 'own team');
  });

  await t.test('anyone with the link may read [rules §4.5]', async () => {
    const rule = 'exists(shares, doc = record.id && token != null && token = @request.query.share)';
    const documents = await defineDocuments(admin, ids, { name: 'docs_shared', rule: null });
    await make(admin, 'shares', [relation('doc', 'docs_shared'), text('token')]);
    await admin.create('shares', { doc: documents.ids.get('team'), token: 'secret' });
    await admin.create('shares', { doc: documents.ids.get('far') });
    await admin.patch(`${path}/docs_shared`, { list_rule: rule, view_rule: rule });
    const list = '/api/v1/docs_shared?sort=title';
    await eventually('the rule holds', async () => (await titlesOf(target.guest, list)) === '');
    await assertSees(target.guest, documents, '', 'share=');
    await assertSees(target.guest, documents, '', 'share=other');
    await assertSees(target.guest, documents, 'team', 'share=secret');
    await assertSees(clients.member, documents, 'team', 'share=secret');
  });

  await t.test('own fields only [fields §5]', async () => {
    const own = { ...text('phone'), view_rule: 'owner = @request.auth.id', write_rule: 'owner = @request.auth.id' };
    await make(admin, 'contacts', [text('title'), relation('owner', 'people'), own]);
    const { id } = await admin.create('contacts', { title: 'own', owner: ids.member, phone: '123' });
    const phoneFor = async (client: Client) =>
      objectAt((await client.get(`/api/v1/contacts/${id}`)).json, 'data').phone;
    const writeAs = (client: Client) => client.send('PATCH', `/api/v1/contacts/${id}`, { body: { phone: '456' } });
    for (const caller of callers) {
      const isOwner = caller === 'member';
      assert.equal(await phoneFor(clients[caller]), isOwner ? '123' : undefined, caller);
      if (!isOwner) assert.equal((await writeAs(clients[caller])).status, 403, caller);
    }
    assert.equal((await writeAs(clients.member)).status, 200);
    assert.equal(await phoneFor(clients.member), '456');
  });

  await t.test("a comment has its parent's rule [rules §3.2]", async () => {
    const rule =
      'doc.author = @request.auth.id || exists(memberships, user = @request.auth.id && team = record.doc.team)';
    const documents = await defineDocuments(admin, ids, { name: 'docs_parent', rule: '' });
    const fields = [text('title'), relation('doc', 'docs_parent')];
    await make(admin, 'notes', fields, { list_rule: rule, view_rule: rule, create_rule: rule });
    const notes = new Map<string, string>();
    for (const [title, doc] of documents.ids) notes.set(title, (await admin.create('notes', { title, doc })).id);
    const about = { name: 'notes', ids: notes };
    await assertSees(target.guest, about, '');
    await assertSees(clients.outsider, about, 'far');
    await assertSees(clients.member, about, 'own team');
    await assertSees(clients.boss, about, '');
    const written = (client: Client, title: string) =>
      client.send('POST', '/api/v1/notes', { body: { title: 'new', doc: documents.ids.get(title) } });
    assert.equal((await written(clients.member, 'team')).status, 201);
    assert.equal((await written(clients.member, 'far')).status, 403);
    assert.equal((await written(target.guest, 'none')).status, 403);
  });
});

interface Documents {
  readonly name: string;
  /** By title. */
  readonly ids: ReadonlyMap<string, string>;
}

/** Asserts that the caller finds exactly these documents, in a list with its total and one by one. */
async function assertSees(client: Client, { name, ids }: Documents, titles: string, query = ''): Promise<void> {
  assert.equal(await titlesOf(client, `/api/v1/${name}?sort=title&${query}`), titles);
  for (const [title, id] of ids) {
    const { status } = await client.get(`/api/v1/${name}/${id}?${query}`);
    assert.equal(status, titles.split(' ').includes(title) ? 200 : 403, `get of ${title}`);
  }
}

async function titlesOf(client: Client, list: string): Promise<string> {
  const { status, json, text: body } = await client.get(list);
  assert.equal(status, 200, body);
  const titles = listAt(json, 'data').map((record) => textAt(record, 'title'));
  assert.equal((json as { totalItems?: unknown }).totalItems, titles.length);
  return titles.join(' ');
}

/** Creates two organizations with a team each, a parent of one team, and people with their memberships. */
async function defineTeams(target: Target) {
  const admin = await target.admin();
  await make(admin, 'orgs', [text('name')]);
  const people = [text('name'), relation('org', 'orgs'), relation('manager', 'people')];
  await admin.post(path, { name: 'people', type: 'auth', fields: people });
  await make(admin, 'groups', [text('name'), relation('parent', 'groups')]);
  const roles = { name: 'role', type: 'select', options: { values: ['viewer', 'editor', 'owner'] } };
  await make(admin, 'memberships', [relation('user', 'people'), relation('team', 'groups'), roles]);
  await make(admin, 'blocks', [relation('by', 'people'), relation('who', 'people')]);
  const org = await admin.create('orgs', { name: 'here' });
  const farOrg = await admin.create('orgs', { name: 'there' });
  const whole = await admin.create('groups', { name: 'whole' });
  const team = await admin.create('groups', { name: 'team', parent: whole.id });
  const farTeam = await admin.create('groups', { name: 'far' });
  const join = async (name: string, home?: string, manager?: string) => {
    const session = await target.guest.post(`${auth}/people/register`, { email: `${name}@example.com`, password });
    const id = textAt(session, 'record.id');
    await admin.patch(`/api/v1/people/${id}`, { name, org: home, manager });
    return { id, client: clientOf(target, session) };
  };
  const boss = await join('boss');
  const member = await join('member', org.id, boss.id);
  const editor = await join('editor', org.id, boss.id);
  const outsider = await join('outsider', farOrg.id);
  await admin.create('memberships', { user: member.id, team: team.id, role: 'viewer' });
  const editorship = await admin.create('memberships', { user: editor.id, team: team.id, role: 'editor' });
  await admin.create('memberships', { user: outsider.id, team: farTeam.id, role: 'viewer' });
  await admin.create('memberships', { user: boss.id, team: whole.id, role: 'viewer' });
  // A membership without a team opens no document without one.
  await admin.create('memberships', { user: outsider.id, role: 'owner' });
  await admin.create('blocks', { by: member.id, who: outsider.id });
  const clients: Readonly<Record<CallerName, Client>> = {
    guest: target.guest,
    outsider: outsider.client,
    member: member.client,
    editor: editor.client,
    boss: boss.client,
  };
  const ids = {
    ...{ org: org.id, farOrg: farOrg.id, team: team.id, farTeam: farTeam.id, editorship: editorship.id },
    ...{ member: member.id, editor: editor.id, outsider: outsider.id, boss: boss.id },
  };
  return { clients, ids };
}

type Ids = Awaited<ReturnType<typeof defineTeams>>['ids'];

async function defineDocuments(
  admin: Client,
  ids: Ids,
  { name, rule }: { readonly name: string; readonly rule: string | null },
): Promise<Documents> {
  const fields = [
    text('title'),
    relation('author', 'people'),
    relation('team', 'groups'),
    relation('org', 'orgs'),
    { name: 'public', type: 'bool' },
    { name: 'opens', type: 'date' },
    { name: 'closes', type: 'date' },
  ];
  await make(admin, name, fields, { list_rule: rule, view_rule: rule });
  const nowSec = Math.floor(Date.now() / 1000);
  const [past, future] = [nowSec - 3600, nowSec + 3600];
  const written = {
    own: { author: ids.member, team: ids.team, org: ids.org, opens: past },
    team: { author: ids.editor, team: ids.team, org: ids.org, opens: past, closes: future },
    far: { author: ids.outsider, team: ids.farTeam, org: ids.farOrg, opens: future },
    none: { public: true, opens: past, closes: past },
  };
  const made = new Map<string, string>();
  for (const [title, values] of Object.entries(written))
    made.set(title, (await admin.create(name, { title, ...values })).id);
  return { name, ids: made };
}
