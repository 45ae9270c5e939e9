import assert from 'node:assert/strict';
import { textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { make, patch, path, text } from './collection-changes.ts';

const relation = (name: string, collection: string) => ({ name, type: 'relation', collection });

onEachTopology('rules follow new names everywhere, and keep what they name', async (t, target) => {
  const admin = await target.admin();
  const clubs = await make(admin, 'clubs', [text('title')]);
  const players = [text('nick'), relation('club', 'clubs'), text('spare')];
  await admin.post(path, { name: 'players', type: 'auth', fields: players });
  await admin.post(path, { name: 'coaches', type: 'auth', fields: [relation('club', 'clubs')] });
  const seats = await make(admin, 'seats', [relation('player', 'players'), relation('club', 'clubs')]);
  const fields = [text('title'), relation('club', 'clubs')];
  await make(admin, 'games', fields, {
    list_rule: 'exists(seats, player = @request.auth.id && club = record.club)',
    view_rule: 'club.seats_via_club.player.nick = @request.auth.nick',
    create_rule: '@request.auth.collection = "players" && count(@request.auth.seats_via_player) > 0',
  });
  const answerOf = async (request: Pick<Scenario, 'request' | 'body'>) => {
    const [method = '', place = ''] = request.request.split(' ');
    return admin.send(method, place, { body: request.body });
  };
  const rulesOf = async () => {
    const data = (await admin.get(`${path}/games`)).json;
    return ['list_rule', 'view_rule', 'create_rule'].map((rule) => textAt(data, `data.${rule}`));
  };
  const detailsOf = async (request: Pick<Scenario, 'request' | 'body'>, status = 422) => {
    const answer = await answerOf(request);
    assert.equal(answer.status, status, answer.text);
    return (answer.json as { details?: Readonly<Record<string, string>> }).details ?? {};
  };

  await t.test('renames are followed [collections §6.5]', async () => {
    const renamed = [seats.field('player', { name: 'who' }), seats.field('club', { name: 'at' })];
    await admin.patch(`${path}/seats`, { name: 'places', fields: renamed });
    await admin.patch(`${path}/players/fields/nick`, { name: 'alias' });
    await admin.patch(`${path}/players`, { name: 'people' });
    assert.deepEqual(await rulesOf(), [
      'exists(places, who = @request.auth.id && at = record.club)',
      'club.places_via_at.who.alias = @request.auth.alias',
      '@request.auth.collection = "people" && count(@request.auth.places_via_who) > 0',
    ]);
  });
  await t.test('a field or collection that a rule names cannot be dropped [collections §6.6]', async () => {
    assert.ok('games.view_rule' in (await detailsOf({ request: `DELETE ${path}/people/fields/alias` })));
    const loose = await make(admin, 'loose', [text('word')]);
    await admin.patch(`${path}/games`, { update_rule: 'exists(loose, word = record.title)' });
    assert.match((await detailsOf({ request: `DELETE ${path}/loose` }))['games.update_rule'] ?? '', /loose/);
    const dropped = await detailsOf({ request: `PATCH ${path}/loose`, body: { fields: [] } });
    assert.match(dropped['games.update_rule'] ?? '', /"word"/);
    await admin.patch(`${path}/games`, { update_rule: 'exists(loose, id = record.title)' });
    await admin.patch(`${path}/loose`, { fields: [] });
    await admin.patch(`${path}/games`, { update_rule: null });
    await admin.delete(`${path}/${loose.id}`);
  });
  await t.test('a name in several auth collections stays the same name [collections §6.5]', async () => {
    await admin.patch(`${path}/games`, { delete_rule: 'club = @request.auth.club' });
    for (const request of [
      { request: `PATCH ${path}/coaches/fields/club`, body: { name: 'team' } },
      { request: `DELETE ${path}/people/fields/club` },
    ])
      assert.match((await detailsOf(request))['games.delete_rule'] ?? '', /"club"/);
    await admin.patch(`${path}/games`, { delete_rule: '' });
    assert.equal((await answerOf({ request: `DELETE ${path}/people/fields/club` })).status, 200);
  });
  await t.test('a relation comes first [collections §7.2]', async () => {
    assert.equal((await answerOf({ request: `DELETE ${path}/${clubs.id}` })).status, 409);
  });
  await runScenarios(
    t,
    target,
    [
      '@request.auth.nothing = 1',
      '@request.auth.club.nothing = 1',
      '@request.auth.password = "x"',
      'exists(nothing, id = "x")',
      'exists(games, club = record.nothing)',
      'nothing_via_club.id = "x"',
    ].map((rule) => ({
      name: rule,
      ...patch('games', { list_rule: rule }),
      expect: refused.invalid('list_rule'),
      spec: 'rules §6.1',
    })),
  );
});

onEachTopology('a rule without an index in a large collection warns', async (t, target) => {
  const admin = await target.admin();
  const closed = { list_rule: '', create_rule: '', update_rule: '', delete_rule: '' };
  await make(admin, 'crowds', [text('kind'), text('name')], closed);
  await inDatabase(
    target,
    `insert into records.crowds (id, kind, created_at, updated_at)
      select 'crowd-' || n, 'a', 0, 0 from generate_series(1, 100001) n`,
    [],
  );
  await inDatabase(target, 'analyze records.crowds', []);
  const change = (list_rule: string) => ({ ...patch('crowds', { list_rule }), expect: { status: 200 } });
  const warned = { warnings: is.listWith(is.matching(/^list_rule of crowds .* make an index of crowds on "kind"\.$/)) };
  await runScenarios(t, target, [
    {
      name: 'without an index',
      ...change('kind = @request.auth.id && name != "x"'),
      expect: { status: 200, json: is.containing(warned) },
      spec: 'rules §6.3',
    },
    ...['update', 'delete'].map(
      (verb): Scenario => ({
        name: `without an index for the ${verb} rule`,
        ...patch('crowds', { [`${verb}_rule`]: 'kind = @request.auth.id' }),
        expect: {
          status: 200,
          json: is.containing({
            warnings: is.listWith(is.matching(new RegExp(`^${verb}_rule .* crowds on "kind"\\.$`))),
          }),
        },
        spec: 'rules §6.3',
      }),
    ),
    {
      name: 'which an index would not serve',
      ...change('@request.auth.id != "" && kind != "x"'),
      expect: { status: 200, json: { data: is.containing({ name: 'crowds' }) } },
      spec: 'rules §6.3',
    },
    {
      name: 'the index is made',
      as: 'admin',
      request: 'POST /api/v1/admin/collections/crowds/indexes',
      body: { name: 'kinds', columns: ['kind'] },
      expect: { status: 201 },
      spec: 'rules §6.3',
    },
    {
      name: 'with an index',
      ...change('kind = @request.auth.id'),
      expect: { status: 200, json: { data: is.containing({ name: 'crowds' }) } },
      spec: 'rules §6.3',
    },
  ]);
});
