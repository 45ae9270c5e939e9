import { recordAudit } from '@recordbus/audit';
import { conflict, notFound, unauthenticated } from '@recordbus/errors';
import { ok, type Route, route } from '@recordbus/http';
import type { RequestContext } from '@recordbus/request/context';
import type { SessionPrincipal } from '@recordbus/tokens';
import { z } from 'zod';
import { type AuthParts, type Origin, originOf } from '../auth-parts.ts';
import { endOtherSessions, endSession, listSessions } from '../sessions/session-rows.ts';
import { refreshSession } from '../sign-in/refresh-session.ts';
import { authPath, callerIn, holderIn } from './auth-paths.ts';
import { adminSession, enrollmentRequired, sessionJson, userSession } from './session-schemas.ts';

/** Refreshing, listing and ending sessions (auth §9). */
export const sessionRoutes = (parts: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: '/api/v1/auth/refresh',
    access: 'session',
    scope: 'none',
    summary: 'Exchange a valid token for a new one',
    answers: { 200: z.union([userSession, adminSession, enrollmentRequired]) },
    handler: async (input) => ok(await refreshSession(parts, originOf(input))),
  }),
  ...ownSessionRoutes(parts, {
    path: authPath('/sessions'),
    logoutPath: authPath('/logout'),
    access: 'user',
    caller: async ({ params: { collection = '' }, context }) =>
      callerIn(await parts.collections.get(collection), context),
    holder: async ({ params: { collection = '' }, context }) =>
      holderIn(await parts.collections.get(collection), context),
  }),
  ...ownSessionRoutes(parts, {
    path: '/api/v1/admin/sessions',
    logoutPath: '/api/v1/admin/logout',
    access: 'admin',
    caller: callingAdmin,
    holder: callingAdmin,
    audit: (id, origin) =>
      recordAudit(parts.database.query, { action: 'admins.sign_out', ...origin, target: { type: 'admin', id } }),
  }),
];

type FindAccount = (input: {
  readonly params: { readonly collection?: string | undefined };
  readonly context: RequestContext;
}) => Promise<SessionPrincipal>;

interface Ownership {
  readonly path: string;
  readonly logoutPath: string;
  readonly access: 'user' | 'admin';
  /** Returns the account whose sessions the caller may see. */
  readonly caller: FindAccount;
  /** Returns the account whose sessions the caller may end. */
  readonly holder: FindAccount;
  /** Writes the audit row for ended sessions; absent for users, who are not audited (auth §9.5). */
  readonly audit?: (accountId: string, origin: Origin) => Promise<void>;
}

const callingAdmin: FindAccount = async ({ context: { principal } }) => {
  if (principal.type !== 'admin') throw unauthenticated();
  return principal;
};

const params = z.object({ collection: z.string().optional() });

function ownSessionRoutes(
  { database, bus, nowSec }: AuthParts,
  { path, logoutPath, access, caller, holder, audit }: Ownership,
) {
  return [
    route({
      method: 'POST',
      path: logoutPath,
      access,
      scope: 'none',
      summary: "End the token's session",
      params,
      answers: { 200: z.null(), 409: 'the token was signed elsewhere and has no session' },
      async handler(input) {
        const { id, sessionId } = await caller(input);
        if (sessionId === undefined) throw conflict('no_session', 'the token has no session that could end');
        // The same request, sent twice, may have ended it.
        if (!(await endSession(database.query, id, sessionId))) throw unauthenticated();
        await audit?.(id, originOf(input));
        bus.notify('accounts');
        return ok(null);
      },
    }),
    route({
      method: 'GET',
      path,
      access,
      scope: 'none',
      summary: "List the caller's sessions",
      params,
      answers: { 200: z.array(sessionJson) },
      async handler(input) {
        const { id, sessionId } = await caller(input);
        const sessions = await listSessions(database.query, id, nowSec());
        return ok(sessions.map((session) => ({ ...session, current: session.id === sessionId })));
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}/:id`,
      access,
      scope: 'none',
      summary: "End one of the caller's sessions",
      params: params.extend({ id: z.string() }),
      answers: { 200: z.null(), 404: 'there is no such session' },
      async handler(input) {
        const { id } = await holder(input);
        const sessionId = input.params.id;
        if (sessionId.includes('\0') || !(await endSession(database.query, id, sessionId))) throw notFound('session');
        await audit?.(id, originOf(input));
        bus.notify('accounts');
        return ok(null);
      },
    }),
    route({
      method: 'DELETE',
      path,
      access,
      scope: 'none',
      summary: "End all the caller's sessions except the current one, and the account's pending links",
      params,
      answers: { 200: z.null() },
      async handler(input) {
        const { id, sessionId } = await holder(input);
        await database.transaction((query) => endOtherSessions(query, id, sessionId));
        await audit?.(id, originOf(input));
        bus.notify('accounts');
        return ok(null);
      },
    }),
  ];
}
