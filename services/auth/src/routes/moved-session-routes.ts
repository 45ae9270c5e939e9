import { recordAudit } from '@recordbus/audit';
import { ok, type Route, route } from '@recordbus/http';
import { storeKeys } from '@recordbus/moved-sessions';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import { admitTo, authParams } from './auth-paths.ts';

/** PocketBase's own bounds, for a record's key and its collection's secret together. */
const tokenKey = z.string().min(60).max(1024);

const body = z.object({
  keys: z
    .array(
      z.object({
        id: z.string().min(1).max(64),
        key: tokenKey
          .nullable()
          .describe("the record's tokenKey, followed by the collection's secret; null ends the account's tokens"),
        updated: z.int().describe('when the account was changed last; one that was changed since gets no key'),
      }),
    )
    .max(1000)
    .describe('each account at most once'),
});

/** The route with which an import keeps users signed in (move §2.8). */
export const movedSessionRoutes = (parts: AuthParts): Route[] => [
  route({
    method: 'PUT',
    path: '/api/v1/admin/moved-sessions/:collection',
    access: 'admin',
    scope: 'admin',
    summary: 'Accept the tokens that PocketBase signed for accounts',
    params: authParams,
    body,
    answers: {
      200: z.object({ kept: z.array(z.string()).describe('the accounts that have a key now') }),
      404: 'no such auth collection',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, (collection) =>
        parts.database.transaction(async (query) => {
          const kept = await storeKeys(query, collection, input.body.keys, parts.cipher);
          await recordAudit(query, {
            action: 'users.keep_sessions',
            ...originOf(input),
            target: { type: 'collection', id: collection.id },
            details: { accounts: kept.length },
          });
          return ok({ kept });
        }),
      ),
  }),
];
