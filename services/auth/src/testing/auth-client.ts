import { randomUUID } from 'node:crypto';
import { connectBus } from '@recordbus/bus';
import { createValueCipher } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import { listen } from '@recordbus/http';
import { createLogger } from '@recordbus/process/logging';
import type { Principal } from '@recordbus/request/context';
import { createCollectionCache } from '@recordbus/schema';
import { createSettings } from '@recordbus/settings';
import { createTokenVerifier, type Session } from '@recordbus/tokens';
import { z } from 'zod';
import { createAuth } from '../app.ts';
import { adminSession } from '../routes/session-schemas.ts';
import type { AdminSession } from '../sessions/admin-sessions.ts';

export const guest: Principal = { type: 'guest', rejectedToken: false };

const answer = z.union([
  z.strictObject({ data: adminSession }),
  z.strictObject({ error: z.string(), code: z.string(), details: z.record(z.string(), z.string()).optional() }),
]);

/** Serves the auth service like the gateway, with the principal that the test chooses. */
export async function serveAuth(database: Database) {
  const secret = Buffer.from('a secret for tests, over 32 characters');
  const log = createLogger('auth', 'silent');
  const bus = connectBus({ urls: 'nats://127.0.0.1:1', name: 'auth', log });
  const cipher = createValueCipher(undefined);
  const settings = createSettings({ database, bus, log, cipher });
  await settings.start();
  const collections = createCollectionCache({ database, bus, log });
  await collections.start();
  const auth = createAuth({
    log,
    database,
    bus,
    settings,
    collections,
    cipher,
    secret,
    config: { breachServiceUrl: 'http://127.0.0.1:1', trustedProxies: [] },
  });
  await auth.start();
  const verifier = createTokenVerifier(secret);
  let principal = guest;
  const server = await listen(
    (request, response) => {
      const context = { requestId: randomUUID(), traceparent: '', clientAddress: '127.0.0.1', principal };
      void auth.handle(request, response, context);
    },
    { host: '127.0.0.1', port: 0 },
  );
  return {
    async close() {
      await server.close();
      await auth.stop();
      await Promise.all([settings.stop(), collections.stop()]);
      await bus.close();
    },
    verify: (token: string): Promise<Session | undefined> => verifier.verifySession(token),
    /** POSTs JSON; returns the answer's status and body. */
    async post(path: string, body?: unknown, caller: Principal = guest) {
      principal = caller;
      const response = await fetch(server.url + path, {
        method: 'POST',
        ...(body !== undefined && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
      });
      return { status: response.status, body: answer.parse(await response.json()) };
    },
  };
}

/** Returns the session in an answer. Throws for any other answer. */
export function sessionOf({ body }: { body: z.output<typeof answer> }): AdminSession {
  if ('data' in body) return body.data;
  throw new Error(`no session: ${body.error}`);
}

/** Returns a refused body's messages by field. */
export const detailsOf = ({ body }: { body: z.output<typeof answer> }) =>
  'details' in body ? body.details : undefined;
