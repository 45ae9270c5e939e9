import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import type { PasswordRules } from '@recordbus/passwords';
import { emailAddress } from '@recordbus/schema';
import { notFound, unauthenticated } from '@recordbus/shared/errors';
import { created, ok, type Route, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { findAdmin, listAdmins } from '../admins/admins-table.ts';
import { addAdmin, changeAdmin, deleteAdmin } from '../admins/change-admins.ts';
import { authorOf } from '../audit/author.ts';

interface AdminRoutesDeps {
  readonly database: Database;
  /** To be told when tokens may have ended. */
  readonly bus: Pick<Bus, 'notify'>;
  readonly passwords: PasswordRules;
  readonly nowSec: () => number;
}

const admin = z.object({ id: z.string(), email: z.string(), created_at: z.int().describe('unix seconds') });
const credentials = z.strictObject({ email: emailAddress, password: z.string('must be a string') });
const params = z.strictObject({ id: z.string() });
const onePath = '/api/v1/admin/admins/:id';

/** Admins looking after each other (contract §4). Signing in is the auth service's. */
export const adminRoutes = ({ database, bus, passwords, nowSec }: AdminRoutesDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/admin/me',
    access: 'admin',
    summary: 'The admin who is calling',
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
    summary: 'List all admins',
    answers: { 200: z.array(admin) },
    handler: async () => ok(await listAdmins(database.query)),
  }),
  route({
    method: 'POST',
    idempotent: true,
    path: '/api/v1/admin/admins',
    access: 'admin',
    summary: 'Add an admin',
    body: credentials,
    answers: { 201: admin },
    handler: async (input) => created(await addAdmin(database, passwords, input.body, nowSec(), authorOf(input))),
  }),
  route({
    method: 'PATCH',
    path: onePath,
    access: 'admin',
    summary: 'Change the address or the password of an admin; that admin has to sign in again',
    params,
    body: credentials.partial(),
    answers: { 200: admin, 404: 'There is no such admin.' },
    async handler(input) {
      const id = checkedId(input.params.id);
      const changed = await changeAdmin(database, passwords, id, input.body, nowSec(), authorOf(input));
      bus.notify('accounts');
      return ok(changed);
    },
  }),
  route({
    method: 'DELETE',
    path: onePath,
    access: 'admin',
    summary: 'Remove an admin',
    params,
    answers: { 200: z.null(), 404: 'There is no such admin.', 409: 'It is the last admin.' },
    async handler(input) {
      await deleteAdmin(database, checkedId(input.params.id), authorOf(input));
      bus.notify('accounts');
      return ok(null);
    },
  }),
];

/** What is no id is nobody's; the database would refuse some texts as such. */
function checkedId(id: string): string {
  if (!z.uuid().safeParse(id).success) throw notFound('admin');
  return id;
}
