import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import { notFound, unauthenticated } from '@recordbus/errors';
import { created, ok, type Route, route } from '@recordbus/http';
import type { PasswordRules } from '@recordbus/passwords';
import { accountAddress } from '@recordbus/schema';
import { z } from 'zod';
import { findAdmin, listAdmins } from '../admins/admins-table.ts';
import { addAdmin, changeAdmin, deleteAdmin } from '../admins/change-admins.ts';
import { actorOf } from '../audit/actor.ts';

interface AdminRoutesDeps {
  readonly database: Database;
  /** Notified when tokens may have ended. */
  readonly bus: Pick<Bus, 'notify'>;
  readonly passwords: PasswordRules;
  readonly nowSec: () => number;
}

const admin = z
  .object({
    id: z.string(),
    email: z.string(),
    created_at: z.int().describe('unix seconds'),
    second_factor: z.boolean().describe('whether a sign-in needs a second factor'),
  })
  .meta({ id: 'AdminAccount' });
const credentials = z.strictObject({ email: accountAddress, password: z.string('must be a string') });
const params = z.strictObject({ id: z.string() });
const bounded = { 403: 'The calling service key has an end or networks.' };
const onePath = '/api/v1/admin/admins/:id';

/** Routes by which admins manage admins (admins §4). The auth service signs them in. */
export const adminRoutes = ({ database, bus, passwords, nowSec }: AdminRoutesDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/admin/me',
    access: 'admin',
    scope: 'none',
    summary: 'Get the calling admin',
    answers: { 200: admin },
    async handler({ context: { principal } }) {
      const me = principal.type === 'admin' ? await findAdmin(database.query, principal.id) : undefined;
      if (!me) throw unauthenticated();
      return ok(me);
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/admin/admins',
    access: 'admin',
    scope: 'admin',
    summary: 'List all admins',
    answers: { 200: z.array(admin) },
    handler: async () => ok(await listAdmins(database.query)),
  }),
  route({
    method: 'POST',
    idempotent: true,
    path: '/api/v1/admin/admins',
    access: 'admin',
    scope: 'admin',
    summary: 'Create an admin',
    body: credentials,
    answers: { 201: admin, ...bounded },
    handler: async (input) => created(await addAdmin(database, passwords, input.body, nowSec(), actorOf(input))),
  }),
  route({
    method: 'PATCH',
    path: onePath,
    access: 'admin',
    scope: 'admin',
    summary: "Change an admin's address or password; all the admin's tokens end",
    params,
    body: credentials.partial(),
    answers: { 200: admin, ...bounded, 404: 'There is no such admin.' },
    async handler(input) {
      const id = requireAdminId(input.params.id);
      const changed = await changeAdmin(database, passwords, id, input.body, nowSec(), actorOf(input));
      bus.notify('accounts');
      return ok(changed);
    },
  }),
  route({
    method: 'DELETE',
    path: onePath,
    access: 'admin',
    scope: 'admin',
    summary: 'Delete an admin',
    params,
    answers: { 200: z.null(), 404: 'There is no such admin.', 409: 'It is the last admin.' },
    async handler(input) {
      await deleteAdmin(database, requireAdminId(input.params.id), actorOf(input));
      bus.notify('accounts');
      return ok(null);
    },
  }),
];

/** Throws 404 for a text that is not a UUID: the database refuses some with an error. */
function requireAdminId(id: string): string {
  if (!z.uuid().safeParse(id).success) throw notFound('admin');
  return id;
}
