import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { type BusReader, openBusReader } from '../clients/bus-reader.ts';
import type { Answer, Client, Sending } from '../clients/client.ts';
import { eventually } from '../eventually.ts';
import { textAt } from '../json.ts';
import { differences, is, Matcher } from '../matching.ts';
import { loggedErrors } from '../processes/logs.ts';
import { inDatabase } from './in-database.ts';
import { replicaCount, type Target } from './target.ts';

export type Caller = 'guest' | 'user' | 'admin';

/** A sentence in the reference as a test: the request, its caller, the answer and the events. */
export interface Scenario extends Sending {
  readonly name: string;
  /** The reference section. */
  readonly spec: string;
  /** Default: guest. */
  readonly as?: Caller;
  /** Method and path. */
  readonly request: string;
  readonly expect: {
    readonly status: number;
    /** The whole body, which may contain matchers. Not checked when left out. */
    readonly json?: unknown;
    /** By lower-case name; null for a header that must be absent. */
    readonly headers?: Readonly<Record<string, string | Matcher | null>>;
  };
  /** The events' exact labels; none by default. */
  readonly events?: readonly string[];
}

/**
 * Runs a table's rows in order, each as a test. Then it tests that exactly these events were published and that no
 * error was logged.
 */
export async function runScenarios(t: TestContext, target: Target, rows: readonly Scenario[]): Promise<void> {
  await using bus = target.natsUrl === undefined ? undefined : await openBusReader(target.natsUrl, { isFromNow: true });
  const sent: { readonly row: Scenario; readonly requestId: string }[] = [];
  for (const row of rows) {
    const requestId = randomUUID();
    sent.push({ row, requestId });
    await t.test(`${row.expect.status}: ${row.name} [${row.spec}]`, async () => {
      check(await sendRow(target, row, requestId), row, requestId);
      if (bus && row.events?.length)
        await eventually(`the events ${row.events}`, () => labels(bus, requestId).length >= (row.events?.length ?? 0));
    });
  }
  if (bus) {
    await t.test('exactly these events were published', async () => {
      await passMarker(target, bus);
      const otherwise = sent.filter(({ row, requestId }) => `${labels(bus, requestId)}` !== `${sorted(row.events)}`);
      assert.deepEqual(
        otherwise.map(({ row, requestId }) => ({ row: row.name, fired: labels(bus, requestId) })),
        [],
      );
    });
  }
  await t.test('no error was logged', () => {
    assert.deepEqual(loggedErrors(target.logLines), []);
  });
}

async function sendRow(target: Target, row: Scenario, requestId: string): Promise<Answer> {
  const client = row.as === 'admin' ? await target.admin() : row.as === 'user' ? await target.user() : target.guest;
  const [method = '', path = ''] = row.request.split(' ');
  const headers = { 'X-Request-Id': requestId, ...row.headers };
  return client.send(method, path, { ...row, headers });
}

function check({ status, headers, json, text }: Answer, row: Scenario, requestId: string): void {
  const { expect } = row;
  assert.equal(status, expect.status, `status ${status}: ${text.slice(0, 500)}`);
  const problems = [
    ...('json' in expect ? differences(json, expect.json) : []),
    ...Object.entries(expect.headers ?? {}).flatMap(([name, value]) =>
      differences(headers[name], value ?? undefined, name),
    ),
    ...(row.headers && 'X-Request-Id' in row.headers
      ? []
      : differences(headers['x-request-id'], requestId, 'x-request-id')),
    ...(status >= 400 && text !== '' ? differences(json, errorShape, 'error body') : []),
  ];
  assert.deepEqual(problems, []);
}

/** Checks the error shape: a message, a stable code, optional details, and nothing else (http §4.1). */
const errorShape = new Matcher('an error in the documented shape', (value) => {
  if (typeof value !== 'object' || value === null) return false;
  const { error, code, details, ...rest } = value as Record<string, unknown>;
  if (Object.keys(rest).length > 0 || typeof error !== 'string' || error === '') return false;
  return is.code.fits(code) && (details === undefined || (typeof details === 'object' && details !== null));
});

const sorted = (labels: readonly string[] = []): string[] => [...labels].sort();

const labels = (bus: BusReader, requestId: string): string[] =>
  sorted(bus.events.filter(({ body }) => body.request_id === requestId).map(({ body }) => textAt(body, 'event')));

/** Longer than a NATS cluster takes to choose a leader on a busy machine. */
const markerPatience = { timeoutMs: 120_000 };

const unpublished = 'select from system.outbox where published_at is null and parked_at is null limit 1';

/**
 * Writes a record and waits for its event, after which all earlier events have arrived. Several relays publish records side
 * by side: there the marker waits until everything before it is published.
 */
async function passMarker(target: Target, bus: BusReader): Promise<void> {
  const admin = await target.admin();
  if (replicaCount > 1)
    await eventually(
      'earlier events are published',
      async () => (await inDatabase(target, unpublished, [])).length === 0,
      markerPatience,
    );
  const { collection, id } = await writeMarker(target.url, admin);
  await eventually(
    "the marker's event is published",
    () => bus.events.some(({ headers }) => headers['ce-subject'] === `${collection}/${id}`),
    markerPatience,
  );
}

/** The markers' collection, by the stack's address. A new one for each table would cost as much as a table. */
const markerCollections = new Map<string, string>();

async function writeMarker(url: string, admin: Client): Promise<{ collection: string; id: string }> {
  const known = markerCollections.get(url);
  if (known !== undefined) {
    const { status, json } = await admin.send('POST', `/api/v1/${known}`, { body: {} });
    if (status === 201) return { collection: known, id: textAt(json, 'data.id') };
  }
  // A table's rows may delete an earlier one's collection.
  const collection = `marker_${randomUUID().replaceAll('-', '')}`;
  await admin.post('/api/v1/collections', { name: collection, type: 'base', fields: [] });
  markerCollections.set(url, collection);
  return { collection, id: (await admin.create(collection, {})).id };
}
