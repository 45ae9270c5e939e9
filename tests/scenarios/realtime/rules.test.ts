import assert from 'node:assert/strict';
import { type LiveClient, openLive } from '../../harness/clients/live-client.ts';
import { eventually } from '../../harness/eventually.ts';
import { onEachTopology, type Target } from '../../harness/stacks/target.ts';
import { createNotes, join, type Person } from './notes.ts';

const typesOf = (live: LiveClient) =>
  live.messages.flatMap(({ type, data }) => (data.sub === undefined ? [] : [`${type} ${titleOf(data)}`]));
const titleOf = ({ record, id, reason }: LiveClient['messages'][number]['data']) =>
  (record as { readonly title?: string } | undefined)?.title ?? id ?? reason;

onEachTopology("live connections obey a GET's rules", async (t, target) => {
  await createNotes(target);
  const admin = await target.admin();
  const [ada, bob] = [await join(target, 'ada'), await join(target, 'bob')];
  const follow = (person: Person | undefined, subscription: unknown) =>
    openLive(target.url, [subscription], { token: person?.token });

  await t.test("each user sees their own records' changes [realtime §3.2]", async () => {
    await using toAda = await follow(ada, { collection: 'tasks' });
    await using toBob = await follow(bob, { collection: 'tasks' });
    await using toGuest = await follow(undefined, { collection: 'tasks' });
    const task = await admin.create('tasks', { title: 'first', owner: ada.id });
    const path = `/api/v1/tasks/${task.id}`;
    await admin.patch(path, { title: 'second' });
    await admin.patch(path, { owner: bob.id });
    await admin.patch(path, { title: 'third' });
    await admin.delete(path);
    await toBob.arrived('delete');
    await toAda.arrived('leave');
    assert.deepEqual(typesOf(toAda), ['create first', 'update second', `leave ${task.id}`]);
    assert.deepEqual(typesOf(toBob), ['enter second', 'update third', `delete ${task.id}`]);
    await passMarker(toGuest, target);
    assert.deepEqual(typesOf(toGuest), []);
  });

  await t.test('a filter makes records enter and leave [realtime §3.2]', async () => {
    await using live = await follow(ada, { collection: 'tasks', filter: 'title ~ "x"', id: 'x' });
    const task = await admin.create('tasks', { title: 'a', owner: ada.id });
    const path = `/api/v1/tasks/${task.id}`;
    await admin.patch(path, { title: 'ax' });
    await admin.patch(path, { title: 'bx' });
    await admin.patch(path, { title: 'b' });
    await admin.delete(path);
    await live.arrived('leave');
    await passMarker(live, target);
    assert.deepEqual(typesOf(live), ['enter ax', 'update bx', `leave ${task.id}`]);
    assert.ok(live.messages.every(({ data }) => data.sub === undefined || data.sub === 'x'));
  });

  await t.test(
    'a membership that ends takes the records with it, and its user reads again [realtime §5.3]',
    async () => {
      const [team, other] = [await admin.create('teams', { name: 'a' }), await admin.create('teams', { name: 'b' })];
      const membership = await admin.create('memberships', { user: ada.id, team: team.id });
      await admin.create('memberships', { user: bob.id, team: other.id });
      await reachStream(target);
      await using toAda = await follow(ada, { collection: 'papers' });
      await using toBob = await follow(bob, { collection: 'papers' });
      await admin.create('papers', { title: 'one', team: team.id });
      await toAda.arrived('create');
      await admin.delete(`/api/v1/memberships/${membership.id}`);
      const [resync] = await toAda.arrived('resync');
      assert.equal(resync?.data.reason, 'access');
      await admin.create('papers', { title: 'two', team: team.id });
      await admin.create('papers', { title: 'of b', team: other.id });
      await toBob.arrived('create');
      await admin.create('memberships', { user: bob.id, team: team.id });
      await toBob.arrived('resync');
      await admin.create('papers', { title: 'three', team: team.id });
      await toBob.arrived('create', 2);
      assert.deepEqual(typesOf(toAda), ['create one', 'resync access']);
      assert.deepEqual(typesOf(toBob), ['create of b', 'resync access', 'create three']);
    },
  );

  await t.test('a changed rule applies once its change is answered [realtime §5.2]', async () => {
    await admin.post('/api/v1/collections', { name: 'posts', type: 'base', fields: [{ name: 'title', type: 'text' }] });
    await using toGuest = await follow(undefined, { collection: 'posts' });
    await using toAda = await follow(ada, { collection: 'posts' });
    await admin.create('posts', { title: 'open' });
    await toGuest.arrived('create');
    await admin.patch('/api/v1/collections/posts', { list_rule: '@request.auth.id != ""' });
    await admin.create('posts', { title: 'signed in' });
    await toAda.arrived('create', 2);
    await admin.patch('/api/v1/collections/posts', { list_rule: '' });
    const [refused] = await toAda.arrived('error');
    assert.deepEqual([refused?.data.sub, refused?.data.code], ['1', 'forbidden']);
    await admin.create('posts', { title: 'closed' });
    await toGuest.arrived('error');
    assert.deepEqual(typesOf(toGuest).slice(0, 1), ['create open']);
    assert.equal(typesOf(toGuest).length, 2);
    assert.deepEqual(typesOf(toAda).slice(0, 2), ['create open', 'create signed in']);
  });

  for (const [name, path] of [
    ['id', 'id'],
    ['address', 'email'],
  ] as const)
    await t.test(
      `a membership that names its user by a text with the ${name} is known too [realtime §5.3]`,
      async () => {
        const [members, folders] = [`members_${path}`, `folders_${path}`];
        const rule = `exists(${members}, folder = record.id && person = @request.auth.${path} && role != "none")`;
        const text = (field: string) => ({ name: field, type: 'text' });
        const make = (collection: string, fields: readonly object[], more: object) =>
          admin.post('/api/v1/collections', { name: collection, type: 'base', fields, ...more });
        await make(members, [text('folder'), text('person'), text('role')], {});
        await make(folders, [text('title')], { list_rule: rule, view_rule: rule });
        const folder = await admin.create(folders, { title: 'one' });
        const own = path === 'id' ? ada.id : 'ada@example.com';
        await using toAda = await follow(ada, { collection: folders });
        await using toBob = await follow(bob, { collection: folders });
        await Promise.all([toAda.arrived('ready'), toBob.arrived('ready')]);
        await admin.create(members, { folder: folder.id, person: own, role: 'reader' });
        const [resync] = await toAda.arrived('resync');
        assert.equal(resync?.data.reason, 'access');
        await admin.patch(`/api/v1/${folders}/${folder.id}`, { title: 'two' });
        await toAda.arrived('update');
        assert.deepEqual(typesOf(toBob), [], 'nobody else reads again');
      },
    );

  await t.test('no message has secrets or fields that a rule hides [realtime §3.1]', async () => {
    await admin.post('/api/v1/collections', {
      name: 'files_of_people',
      type: 'base',
      fields: [
        { name: 'title', type: 'text' },
        { name: 'owner', type: 'relation', collection: 'people' },
        { name: 'hidden_one', type: 'text', view_rule: '' },
        { name: 'own_one', type: 'text', view_rule: 'owner = @request.auth.id' },
        { name: 'secret', type: 'text', options: { encrypted: true }, view_rule: 'owner = @request.auth.id' },
      ],
    });
    await using toAda = await follow(ada, { collection: 'files_of_people' });
    await using toBob = await follow(bob, { collection: 'files_of_people' });
    const planted = { hidden_one: 'planted-a', own_one: 'planted-b', secret: 'planted-c' };
    const record = await admin.create('files_of_people', { title: 'f', owner: ada.id, ...planted });
    await admin.patch(`/api/v1/files_of_people/${record.id}`, {
      hidden_one: 'planted-d',
      own_one: 'planted-e',
      title: 'g',
    });
    await toBob.arrived('update');
    await toAda.arrived('update');
    assert.doesNotMatch(JSON.stringify(toBob.messages), /planted|hidden_one|own_one|secret/);
    assert.doesNotMatch(JSON.stringify(toAda.messages), /planted-a|planted-d|hidden_one/);
    assert.match(JSON.stringify(toAda.messages), /planted-b.*planted-c.*planted-e/);
    await using refused = await follow(bob, { collection: 'files_of_people', filter: 'hidden_one = "planted-a"' });
    assert.equal(refused.status, 400);
  });
});

/** Waits until the connection has passed all earlier writes. */
async function passMarker(live: LiveClient, target: Target): Promise<void> {
  await reachStream(target);
  await eventually('the connection is open', () => !live.isClosed);
}

/** Waits until the stream has all earlier writes, so that a later subscription gets none of them. */
async function reachStream(target: Target): Promise<void> {
  await using marker = await openLive(target.url, [{ collection: 'notes' }]);
  await (await target.admin()).create('notes', { text: 'marker' });
  await marker.arrived('create');
}
