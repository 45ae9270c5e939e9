import assert from 'node:assert/strict';
import { listAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { clientOf, createUsers, signUp } from './users.ts';

const no = (reason: unknown = is.text) => ({ admitted: false, reason, records: null, total: null });
const yes = { admitted: true, reason: null, records: null, total: null };

onEachTopology('a rule is tried for a caller before it is saved', async (t, target) => {
  const admin = await target.admin();
  const users = await createUsers(target);
  const session = await signUp(target, users, 'ann@example.com');
  const ann = textAt(session, 'record.id');
  const fields = [
    { name: 'title', type: 'text', required: true },
    { name: 'owner', type: 'relation', collection: users },
    { name: 'secret', type: 'text', view_rule: '', write_rule: '' },
  ];
  const name = `tried_${users.slice(6)}`;
  const rules = { list_rule: '', view_rule: '', create_rule: '', update_rule: '', delete_rule: '' };
  await admin.post('/api/v1/collections', { name, fields, ...rules });
  const own = await admin.create(name, { title: 'own', owner: ann, secret: 'x' });
  const other = await admin.create(name, { title: 'other' });
  const caller = { collection: users, id: ann };
  const byOwner = 'owner = @request.auth.id';
  const request = `POST /api/v1/admin/collections/${name}/try-rule`;
  const trial = (title: string, body: object, json: unknown, spec = 'rules §7.2') => ({
    name: title,
    as: 'admin' as const,
    request,
    body,
    spec,
    expect: { status: 200, json: { data: json } },
  });
  const refusal = (title: string, body: object, expect: { status: number; json?: unknown }) => ({
    name: title,
    as: 'admin' as const,
    request,
    body,
    spec: 'rules §7.3',
    expect,
  });
  const seen = (record: { readonly id: string }) => is.containing({ id: record.id, secret: undefined });
  await runScenarios(t, target, [
    { name: 'a user', as: 'user', request, body: {}, spec: 'rules §7.1', expect: refused.forbidden },
    trial(
      'a list of a user',
      { action: 'list', rule: byOwner, caller },
      { admitted: true, reason: null, records: [seen(own)], total: 1 },
    ),
    trial(
      'a list of a guest',
      { action: 'list', rule: byOwner },
      { admitted: false, reason: null, records: [], total: 0 },
    ),
    trial('a list for everyone', { action: 'list', rule: null }, is.containing({ admitted: true, total: 2 })),
    trial('a list for admins', { action: 'list', rule: '', caller }, no()),
    trial(
      'a view of the own record',
      { action: 'view', rule: byOwner, caller, id: own.id },
      { admitted: true, reason: null, records: [seen(own)], total: null },
    ),
    trial('a view of another record', { action: 'view', rule: byOwner, caller, id: other.id }, no()),
    trial('an update of the own record', { action: 'update', rule: byOwner, caller, id: own.id }, yes),
    trial(
      'an update that the rule looks into',
      { action: 'update', rule: '@request.body.title = "x"', caller, id: own.id, body: { title: 'y' } },
      no(),
    ),
    trial(
      'an update of a closed field',
      { action: 'update', rule: null, caller, id: own.id, body: { secret: 'y' } },
      no(),
      'rules §7.3',
    ),
    trial('a delete of another record', { action: 'delete', rule: byOwner, caller, id: other.id }, no()),
    trial(
      'a create with the own id',
      { action: 'create', rule: byOwner, caller, body: { title: 'n', owner: ann } },
      yes,
    ),
    trial('a create without it', { action: 'create', rule: byOwner, caller, body: { title: 'n' } }, no()),
    trial('a create by everyone', { action: 'create', rule: null, body: { title: 'n' } }, yes),
    refusal('a create without a required value', { action: 'create', rule: null, body: {} }, refused.invalid('title')),
    refusal('a rule that cannot be saved', { action: 'list', rule: 'titel = 1' }, refused.invalid('rule')),
    refusal(
      'an unknown user',
      { action: 'list', rule: null, caller: { collection: users, id: own.id } },
      refused.invalid('caller'),
    ),
    refusal(
      'a caller of no auth collection',
      { action: 'list', rule: null, caller: { collection: name, id: own.id } },
      refused.invalid('caller'),
    ),
    refusal('an unknown record', { action: 'view', rule: null, id: ann }, refused.notFound),
    refusal('an id that is none', { action: 'delete', rule: byOwner, caller, id: '\0' }, refused.notFound),
    refusal('a sign-in to a base collection', { action: 'sign_in', rule: null, id: own.id }, refused.naming('action')),
    ...signIns(users, ann),
    refusal('an unknown action', { action: 'drop', rule: null }, refused.naming('action')),
  ]);

  await t.test('nothing is written or saved, and requests follow the saved rules [rules §7.3]', async () => {
    assert.equal(listAt((await admin.get(`/api/v1/${name}`)).json, 'data').length, 2);
    assert.equal((await target.guest.get(`/api/v1/${name}`)).status, 403);
    assert.equal((await clientOf(target, session).get(`/api/v1/${name}`)).status, 403);
  });

  await t.test('a request confirms the trial once the rule is saved [rules §7.3]', async () => {
    await admin.patch(`/api/v1/collections/${name}`, { list_rule: byOwner, update_rule: byOwner });
    const user = clientOf(target, session);
    const found = listAt((await user.get(`/api/v1/${name}`)).json, 'data');
    assert.deepEqual(
      found.map(({ id }) => id),
      [own.id],
    );
    assert.equal((await user.send('PATCH', `/api/v1/${name}/${own.id}`, { body: { title: 'mine' } })).status, 200);
    assert.equal((await user.send('PATCH', `/api/v1/${name}/${other.id}`, { body: { title: 'mine' } })).status, 403);
  });
});

/** Trials of a rule for sign-ins (auth §4.5). */
function signIns(users: string, id: string) {
  const trial = (name: string, body: object, expect: { status: number; json?: unknown }) => ({
    name: `a sign-in ${name}`,
    as: 'admin' as const,
    request: `POST /api/v1/admin/collections/${users}/try-rule`,
    body: { action: 'sign_in', id, ...body },
    spec: 'rules §7.1',
    expect,
  });
  const answered = (json: unknown) => ({ status: 200, json: { data: json } });
  return [
    trial('without a rule', { rule: null }, answered(yes)),
    trial('of no account', { rule: '' }, answered(no('the account may not sign in'))),
    trial('that the rule admits', { rule: 'email = "ann@example.com"' }, answered(yes)),
    trial('that the rule refuses', { rule: 'email = "eve@example.com"' }, answered(no('the account may not sign in'))),
    trial('with a rule about the request', { rule: '@request.auth.id != ""' }, refused.invalid('rule')),
    trial('with a rule that cannot be read', { rule: 'email =' }, refused.invalid('rule')),
    trial('of an unknown account', { rule: null, id: '01982222-2222-7222-8222-222222222222' }, refused.notFound),
    trial('of an id that is none', { rule: null, id: '\0' }, refused.notFound),
  ];
}
