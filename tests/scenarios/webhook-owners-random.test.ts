import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createWebhook } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, objectAt } from '../harness/json.ts';
import { metricOf } from '../harness/metrics/metric.ts';
import { type Delivery, startReceiver } from '../harness/servers/receiver.ts';
import { onOneProcess } from '../harness/stacks/target.ts';
import { expectedOf, type Phase, phases, type State, type Told, toldOf, type Written } from './owners-model.ts';

/** Set it to run with other writes. */
const seed = Number(process.env.FUZZ_SEED ?? 20261130);
const adminPath = '/api/v1/admin/webhooks';

/** What a request tells an owner. A repetition has the same delivery id. */
const toldIn = ({ json }: Delivery): Told => {
  const data = objectAt(json, 'data');
  const record = data.record as JsonObject | undefined;
  return {
    event: String(json.event),
    id: String(record?.id ?? data.id),
    n: record === undefined ? null : Number(record.n),
    hasNote: record !== undefined && 'note' in record,
    hasPast: 'previous' in data,
  };
};

onOneProcess(`owners get what webhook_rule says at each version (seed ${seed}) [webhooks §9.3]`, async (_t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'crews',
    fields: [
      { name: 'region', type: 'text' },
      { name: 'level', type: 'number' },
    ],
  });
  await admin.post('/api/v1/collections', {
    name: 'loads',
    fields: [
      { name: 'crew', type: 'text' },
      { name: 'region', type: 'text' },
      { name: 'amount', type: 'number' },
      { name: 'n', type: 'number' },
      { name: 'note', type: 'text' },
    ],
  });
  await admin.patch('/api/v1/admin/settings', {
    'webhooks.pause_after_seconds': '0',
    'webhooks.owners.crews': JSON.stringify({ hosts: [new URL(receiver.url).origin] }),
  });
  /** The owners whose receiver refuses for now. */
  const refusing = new Set<string>();
  /** The deliveries that were answered with 200, by owner. */
  const taken = new Map<string, Map<string, Delivery>>();
  const handled = new Set<Delivery>();
  receiver.behave((path) => ({ status: refusing.has(path.slice(1)) ? 500 : 200 }));

  const state: State = { rule: '', isNoteHidden: false, crews: new Map(), loads: new Map(), n: 0 };
  const hooks = new Map<string, unknown>();
  let published = 0;
  const url = (path: string) => new URL(`/${path}`, receiver.url).href;
  await createWebhook(admin, url('all'), ['loads.*', 'crews.*']);
  for (const values of [
    { region: 'north', level: 0 },
    { region: 'south', level: 1 },
    { region: 'north', level: 2 },
  ]) {
    const { id } = await admin.create('crews', values);
    published += 1;
    state.crews.set(String(id), values);
    const owner = { collection: 'crews', id };
    const members = { owner, retry_max: 50 };
    hooks.set(String(id), (await createWebhook(admin, url(String(id)), ['loads.*'], members)).id);
  }

  /** Waits until all events have their deliveries: the relay has published them, and the fan-out has ended. */
  async function fannedOut(): Promise<void> {
    await eventually('all events are published', () => {
      const all = receiver.deliveries.filter(({ path }) => path === '/all');
      return new Set(all.map(({ headers }) => headers['webhook-id'])).size === published;
    });
    await eventually('their deliveries are made', async () => (await metricOf(admin, 'recordbus_stream_lag')) === 0);
  }
  /** Waits until nothing waits to be sent, except to one owner. */
  async function delivered(except?: string): Promise<void> {
    for (const [crew, hook] of hooks) {
      if (crew === except) continue;
      await eventually('nothing waits', async () => {
        const { status, json } = await admin.send('GET', `${adminPath}/${hook}/status`);
        return status === 404 || at(json, 'data.pending') === 0;
      });
    }
  }
  const setEnabled = async (crew: string, enabled: boolean): Promise<void> => {
    await admin.send('PATCH', `${adminPath}/${hooks.get(crew)}`, { body: { enabled } });
  };
  /** Notes what owners have taken. While an owner's receiver refuses, it takes nothing. */
  function note(): void {
    for (const delivery of receiver.deliveries.filter((one) => !handled.has(one))) {
      handled.add(delivery);
      const owner = delivery.path.slice(1);
      if (!state.crews.has(owner) || refusing.has(owner)) continue;
      const of = taken.get(owner) ?? new Map<string, Delivery>();
      taken.set(owner, of.set(String(delivery.headers['webhook-id']), delivery));
    }
  }

  async function write(step: Phase['writes'][number]): Promise<Written | undefined> {
    const ids = [...state.loads.keys()];
    const id = ids[step.index % Math.max(ids.length, 1)];
    const before = id === undefined ? undefined : state.loads.get(id);
    const crews = [...state.crews.keys()];
    const { crew, region, amount } = step;
    state.n += 1;
    const values = {
      crew: crews[crew % crews.length] ?? 'nobody',
      region,
      amount,
      n: state.n,
      note: `note ${state.n}`,
    };
    published += 1;
    if (step.action === 'create' || id === undefined || before === undefined) {
      const made = String((await admin.create('loads', values)).id);
      state.loads.set(made, values);
      return { action: 'create', id: made, record: values, previous: undefined };
    }
    if (step.action === 'update') {
      await admin.patch(`/api/v1/loads/${id}`, values);
      state.loads.set(id, values);
      return { action: 'update', id, record: values, previous: before };
    }
    await admin.delete(`/api/v1/loads/${id}`);
    state.loads.delete(id);
    return { action: 'delete', id, record: before, previous: undefined };
  }

  async function change({ kind, crew: index, rule, region }: Phase['change']): Promise<void> {
    const crews = [...state.crews.keys()];
    const crew = crews[index % crews.length] ?? '';
    if (kind === 'rule') {
      await admin.patch('/api/v1/collections/loads', { webhook_rule: rule });
      state.rule = rule;
    } else if (kind === 'field') {
      await admin.patch('/api/v1/collections/loads/fields/note', { view_rule: state.isNoteHidden ? null : '' });
      state.isNoteHidden = !state.isNoteHidden;
    } else if (kind === 'owner') {
      await admin.patch(`/api/v1/crews/${crew}`, { region });
      published += 1;
      state.crews.set(crew, { level: state.crews.get(crew)?.level ?? 0, region });
    } else if (crews.length > 1) {
      await admin.delete(`/api/v1/crews/${crew}`);
      published += 1;
      await eventually(
        'its webhook ends',
        async () => (await admin.send('GET', `${adminPath}/${hooks.get(crew)}`)).status === 404,
      );
      state.crews.delete(crew);
    }
  }

  const [given = []] = fc.sample(phases, { numRuns: 1, seed });
  for (const phase of given) {
    const atFanOut = structuredClone(state);
    const holding = [...state.crews.keys()][phase.holds];
    if (holding !== undefined) refusing.add(holding);
    const written: Written[] = [];
    for (const step of phase.writes) written.push(...[await write(step)].filter((one) => one !== undefined));
    await fannedOut();
    await delivered(holding);
    if (holding !== undefined) await setEnabled(holding, false);
    note();
    await change(phase.change);
    const atSending = structuredClone(state);
    if (holding !== undefined) {
      note();
      refusing.delete(holding);
      await setEnabled(holding, true);
    }
    await fannedOut();
    await delivered();
    note();
    for (const crew of state.crews.keys()) {
      const isHeld = crew === holding;
      const expected = expectedOf(written, crew, atFanOut, isHeld ? atSending : atFanOut);
      const found = [...(taken.get(crew)?.values() ?? [])].map(toldIn).map(toldOf).sort();
      assert.deepEqual(found, expected.map(toldOf).sort(), `seed ${seed}: ${crew} after ${JSON.stringify(phase)}`);
    }
    taken.clear();
  }
});
