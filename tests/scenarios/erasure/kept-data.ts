import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Client } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, type JsonObject, listAt, objectAt, textAt } from '../../harness/json.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { erased, tablesWith } from '../erasures.ts';

const marker = 'Dudelsackspielerin';

/** Plants a person's data in jobs, in an after hook's queue and in a webhook that is read, and erases the person. */
export async function erasureOfKept(
  t: TestContext,
  { admin: signIn, databaseUrl }: Pick<Target, 'admin' | 'databaseUrl'>,
  guests: readonly Client[],
  { hasMetrics }: { readonly hasMetrics: boolean },
): Promise<void> {
  const admin = await signIn();
  const [first] = guests;
  const last = guests.at(-1);
  assert.ok(first && last);
  await admin.post('/api/v1/collections', { name: 'kept_people', fields: [{ name: 'name', type: 'text' }] });
  await admin.post('/api/v1/collections', { name: 'kept_heard', fields: [{ name: 'text', type: 'text' }] });
  const poll = await admin.post('/api/v1/admin/webhooks', {
    name: 'read',
    type: 'poll',
    events: ['kept_people.*'],
  });
  const readPoll = async (guest: Client) => {
    const answer = await guest.send('GET', `/api/v1/webhooks/${poll.id}/events?after=0`, {
      headers: { 'X-Webhook-Key': String(poll.key) },
    });
    assert.equal(answer.status, 200, answer.text);
    return listAt(answer.json, 'data');
  };
  const enqueue = (job: string, input: object, options = {}): Promise<JsonObject> =>
    last.post('/api/x/kept/jobs', { job: `keeper.${job}`, input, options }, 200);
  const set = (key: string) => first.post('/api/x/kept/values', { key }, 200).catch(() => ({}));
  const isSet = async (key: string) =>
    at((await first.get(`/api/x/kept/values?key=${encodeURIComponent(key)}`)).json, 'data') === true;
  const jobOf = async ({ id }: JsonObject) =>
    objectAt((await admin.get(`/api/v1/admin/extension-jobs/${id}`)).json, 'data');

  const person = await admin.create('kept_people', { name: marker });
  const inAnHour = { in_s: 3600 };
  const waiting = await enqueue('later', { person: person.id, text: marker }, inAnHour);
  const keyed = await enqueue('keyed', {}, { ...inAnHour, key: `person/${person.id}` });
  const held = await enqueue('held', { person: person.id, text: marker });
  const others = await enqueue('later', { text: 'of another person' }, inAnHour);
  await eventually('the job runs', () => isSet('held began'));
  await eventually('its progress is stored', async () => (await jobOf(held)).progress !== null);
  await eventually('the event can be read', async () => (await readPoll(first)).length === 1);
  await erased(admin, 'kept_people', person.id);

  await t.test('jobs that name the person are cancelled, and nothing of them is left [privacy §2.2]', async () => {
    for (const job of [waiting, keyed, held]) {
      const { state, key = null, error } = await jobOf(job);
      assert.deepEqual({ state, key, error }, { state: 'cancelled', key: null, error: null }, textAt(job, 'id'));
    }
    assert.equal((await jobOf(others)).state, 'pending');
  });

  await t.test('one that runs meanwhile leaves nothing at its end', async () => {
    await set('gate');
    if (hasMetrics)
      await eventually('its attempt has ended: by itself, or because the lease has', async () => {
        const families = listAt((await admin.get('/_/metrics')).json, 'data');
        const counter = families.find(({ name }) => name === 'recordbus_extension_job_attempts_total');
        return listAt(counter ?? { samples: [] }, 'samples').some(
          (sample) => at(sample, 'labels.job') === 'keeper.held',
        );
      });
    const { state, error } = await jobOf(held);
    assert.deepEqual([state, error], ['cancelled', null]);
  });

  await t.test('a webhook that is read has the delete alone, on every replica [privacy §2.1]', async () => {
    for (const guest of guests)
      await eventually('the delete can be read', async () => {
        const events = await readPoll(guest);
        assert.ok(!JSON.stringify(events).includes(marker), JSON.stringify(events));
        return events.some((event) => at(event, 'event') === 'kept_people.delete');
      });
  });

  await t.test('an after hook that waited never hears of the person [privacy §2.5]', async () => {
    await set('listens');
    await admin.create('kept_people', { name: 'another person' });
    const heard = async () =>
      listAt((await admin.get('/api/v1/kept_heard?perPage=500')).json, 'data').map(({ text }) => text);
    await eventually('the hook hears of the other one', async () => (await heard()).includes('another person'), {
      timeoutMs: 300_000,
    });
    assert.ok(!(await heard()).includes(marker), JSON.stringify(await heard()));
  });

  await t.test('no table has the marker', async () => {
    if (databaseUrl === undefined) return;
    await eventually(
      'the words have gone',
      async () => {
        const found = await tablesWith({ databaseUrl }, marker);
        if (found.length > 0) throw new Error(found.join(', '));
        return true;
      },
      { timeoutMs: 300_000 },
    );
  });
}
