import assert from 'node:assert/strict';
import { type Bus, connectBus, type EventStream, envelopeSql, eventStream } from '@recordbus/bus';
import { publishMessage, removeStream } from '@recordbus/bus/testing';
import { createValueCipher } from '@recordbus/crypto';
import { type Database, newId, openDatabase } from '@recordbus/database';
import { createTemporaryDatabase } from '@recordbus/database/testing';
import type { Service } from '@recordbus/http/service';
import { createLogger } from '@recordbus/process/logging';
import { createCollectionCache } from '@recordbus/schema';
import { createSettings } from '@recordbus/settings';
import { eventually } from '@recordbus/testing';
import { createWebhooks } from '../src/app.ts';

const { TEST_DATABASE_URL = '', TEST_NATS_URL = '' } = process.env;

/** The reason to skip a file's tests; false to run them. */
export const skip = TEST_DATABASE_URL && TEST_NATS_URL ? false : 'TEST_DATABASE_URL and TEST_NATS_URL are not set';

export const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

interface NewWebhook {
  readonly url: string;
  readonly events?: readonly string[];
  readonly headers?: Record<string, string>;
  readonly retryMax?: number;
  readonly retryDelayMs?: number;
  readonly timeoutMs?: number;
}

export interface DeliveryRow {
  readonly id: string;
  readonly event: string;
  readonly webhook_id: string;
  readonly status: string;
  readonly attempt: number;
  readonly response_code: number | null;
  readonly response_body: string | null;
  readonly error: string | null;
  readonly attempts: number;
  readonly queued: number;
}

/** A temporary database and stream, and the service replicas that a test starts. */
export interface TestWebhooks {
  readonly database: Database;
  readonly bus: Bus;
  readonly stream: EventStream;
  startReplica(): Promise<Service>;
  addWebhook(webhook: NewWebhook): Promise<string>;
  /** Publishes an event as the relay does. */
  emit(event: string, data?: string, id?: string): Promise<string>;
  /** Publishes arbitrary bytes. */
  publish(subject: string, body: Uint8Array | string): Promise<void>;
  deliveries(webhookId: string): Promise<DeliveryRow[]>;
  setDenied(ranges: string): Promise<void>;
  /** Changes settings and waits until a settings reader has the new values. */
  set(values: Readonly<Record<string, string>>): Promise<void>;
  stop(): Promise<void>;
}

/** Opens the database and the bus, with the test's own stream. */
export async function startTestWebhooks(): Promise<TestWebhooks> {
  const log = createLogger('webhooks-test', process.env.TEST_LOG ?? 'silent');
  const temporary = await createTemporaryDatabase(TEST_DATABASE_URL);
  const database = await openDatabase({ url: temporary.url, name: 'test', log });
  const bus = connectBus({ urls: TEST_NATS_URL, name: 'test', log });
  const suffix = newId().slice(-12);
  const stream = { ...eventStream, name: `HOOKS_${suffix}`, prefix: `hooks-${suffix}`, maxBytes: 64 * 1024 ** 2 };
  const cipher = createValueCipher(undefined);
  const settings = createSettings({ database, bus, log, cipher });
  const collections = createCollectionCache({ database, bus, log });
  const replicas: Service[] = [];

  async function set(values: Readonly<Record<string, string>>): Promise<void> {
    for (const [key, value] of Object.entries(values))
      await database.query({
        text: `insert into system.settings (key, value, updated_at) values ($1, $2, 0)
          on conflict (key) do update set value = excluded.value`,
        values: [key, value],
      });
    await database.query({
      text: `update system.versions set version = version + 1 where name = 'settings'`,
      values: [],
    });
    bus.notify('settings');
    await eventually(() => {
      const texts: Record<string, string> = settings.all();
      return Object.entries(values).every(([key, value]) => texts[key] === value);
    });
  }

  await setDeniedBeforeStart(database);
  await settings.start();
  await collections.start();
  await eventually(() => bus.connected);

  return {
    database,
    bus,
    stream,
    set,
    setDenied: (ranges) => set({ 'hooks.http.deny': ranges }),
    async startReplica() {
      const service = createWebhooks({ log, database, bus, settings, collections, stream });
      await service.start();
      replicas.push(service);
      return service;
    },
    async addWebhook({ url, events = ['*'], headers = {}, retryMax = 3, retryDelayMs = 100, timeoutMs = 5000 }) {
      const id = newId();
      await database.query({
        text: `insert into system.webhooks
            (id, name, url, events, secret, headers, retry_max, retry_backoff, retry_delay_ms, timeout_ms)
          values ($1, 'test', $2, $3, $4, $5, $6, 'exponential', $7, $8)`,
        values: [id, url, events, secret, headers, retryMax, retryDelayMs, timeoutMs],
      });
      return id;
    },
    async emit(event, data = '{"record":{"n":12345678901234567890}}', id = newId()) {
      const body = envelopeSql({
        id: '$1',
        event: '$2',
        timestamp: 'extract(epoch from now())',
        data: '$3::json',
        actorType: `'guest'`,
        actorId: 'null',
        requestId: 'null',
      });
      const rows = await database.query<{ body: string; occurredAt: string }>({
        text: `select ${body} as body, to_json(now()) #>> '{}' as "occurredAt"`,
        values: [id, event, data],
      });
      const [row = assert.fail('no event')] = rows;
      // The time that the stream adds has milliseconds: it may be before the webhook was added.
      const headers = { 'ce-time': row.occurredAt };
      await publishMessage(bus, `${stream.prefix}.${event}`, row.body, { id, headers });
      return id;
    },
    async publish(subject, body) {
      await publishMessage(bus, `${stream.prefix}.${subject}`, body);
    },
    deliveries: (webhookId) =>
      database.query<DeliveryRow>({
        text: `select d.*,
            (select count(*) from system.delivery_attempts a where a.delivery_id = d.id) as attempts,
            (select count(*) from system.delivery_queue q where q.delivery_id = d.id) as queued
          from system.deliveries d where webhook_id = $1 order by created_at, id`,
        values: [webhookId],
      }),
    async stop() {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await collections.stop();
      await settings.stop();
      await removeStream(bus, stream).catch(() => {});
      await bus.close();
      await database.close();
      await temporary.drop();
    },
  };
}

/** Tests' receivers are on the loopback address. */
async function setDeniedBeforeStart(database: Database): Promise<void> {
  await database.query({
    text: `insert into system.settings (key, value, updated_at) values ('hooks.http.deny', 'off', 0)`,
    values: [],
  });
}
