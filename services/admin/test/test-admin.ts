import { randomBytes } from 'node:crypto';
import { connectBus } from '@recordbus/bus';
import { createValueCipher } from '@recordbus/crypto';
import { type Database, openDatabase } from '@recordbus/database';
import { createTemporaryDatabase } from '@recordbus/database/testing';
import { listen } from '@recordbus/http';
import { createServiceApp } from '@recordbus/http/service-app';
import { createLogger } from '@recordbus/process/logging';
import { contextHeader, createContextSigner, type Principal } from '@recordbus/request/context';
import { createCollectionCache } from '@recordbus/schema';
import { createSettings } from '@recordbus/settings';
import { createAdmin } from '../src/app.ts';

export { skipWithoutDatabase as skip } from '@recordbus/database/testing';

/** The members in an answer's body that tests read. */
interface Body {
  readonly data?: unknown;
  readonly error?: string;
  readonly code?: string;
  readonly details?: Record<string, unknown>;
}

export interface Answer {
  readonly status: number;
  readonly body: Body;
}

/** The admin service alone, listening, on its own database. */
export interface TestAdmin {
  readonly database: Database;
  /** Sends a request as the gateway does for the given caller, an admin by default. */
  call(method: string, path: string, body?: unknown, principal?: Principal): Promise<Answer>;
  stop(): Promise<void>;
}

export const someAdmin = {
  type: 'admin',
  id: '01890000-0000-7000-8000-000000000001',
  email: 'admin@example.com',
} as const satisfies Principal;

/** Starts the service. There is no bus: notices do not need one. */
export async function startTestAdmin(
  clock?: () => number,
  schemaMode: 'open' | 'readonly' = 'open',
): Promise<TestAdmin> {
  const log = createLogger('admin-test', 'error');
  const temporary = await createTemporaryDatabase(process.env.TEST_DATABASE_URL ?? '');
  const database = await openDatabase({ url: temporary.url, name: 'test', log });
  const bus = connectBus({ urls: process.env.TEST_NATS_URL ?? 'nats://127.0.0.1:1', name: 'test', log });
  const cipher = createValueCipher(undefined);
  const settings = createSettings({ database, bus, log, cipher });
  await settings.start();
  const collections = createCollectionCache({ database, bus, log });
  await collections.start();
  const service = createAdmin({
    log,
    database,
    bus,
    secret: randomBytes(32),
    settings,
    collections,
    cipher,
    config: {
      breachServiceUrl: 'http://127.0.0.1:1',
      onesignalUrl: 'http://127.0.0.1:1',
      fcmUrl: 'http://127.0.0.1:1',
      releaseUrl: 'http://127.0.0.1:1',
      schemaMode,
    },
    ...(clock && { clock }),
  });
  await service.start();
  const contextSigner = createContextSigner(Buffer.alloc(32, 1));
  const server = await listen(createServiceApp(service, contextSigner, log), { port: 0, host: '127.0.0.1' });
  return {
    database,
    async call(method, path, body, principal = someAdmin) {
      const context = { requestId: 'test', traceparent: '', principal, clientAddress: '127.0.0.1' };
      const response = await fetch(`${server.url}${path}`, {
        method,
        headers: {
          [contextHeader]: contextSigner.sign(context, { method, url: path }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return { status: response.status, body: JSON.parse(await response.text()) };
    },
    async stop() {
      await server.close();
      await service.stop();
      await collections.stop();
      await settings.stop();
      await bus.close();
      await database.close();
      await temporary.drop();
    },
  };
}
