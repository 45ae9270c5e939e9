import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import { created, ok, page, pageOf, pageQuery, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import { actorOf } from '../audit/actor.ts';
import { changeKey, createKey, deleteKey } from '../keys/change-keys.ts';
import { keyChange, keyJson, madeKeyJson, newKey } from '../keys/key-schema.ts';
import { getKey, listKeys } from '../keys/key-store.ts';

interface KeyRoutesDeps {
  readonly database: Database;
  /** Notified when keys have changed. */
  readonly bus: Pick<Bus, 'notify'>;
  readonly nowSec: () => number;
}

const path = '/api/v1/admin/keys';
const onePath = `${path}/:id`;
const params = z.object({ id: z.string() });
const noSuchKey = { 404: 'There is no such service key.' };
const beyond = { 403: 'The key would have more rights than the calling key.' };

/** Service key routes (keys §1). */
export const keyRoutes = ({ database, bus, nowSec }: KeyRoutesDeps): Route[] => [
  route({
    method: 'GET',
    path,
    access: 'admin',
    scope: 'admin',
    summary: 'List service keys, newest first',
    query: pageQuery,
    answers: { 200: pageOf(keyJson) },
    handler: async ({ query: wanted }) => {
      const { rows, totalItems } = await listKeys(database.query, wanted);
      return page(rows, { ...wanted, totalItems });
    },
  }),
  route({
    method: 'POST',
    idempotent: true,
    path,
    access: 'admin',
    scope: 'admin',
    summary: 'Create a service key; only this answer has the key itself',
    body: newKey,
    answers: { 201: madeKeyJson, ...beyond, 409: 'There is no room for another key.' },
    async handler(input) {
      const made = await createKey(database, input.body, nowSec(), actorOf(input));
      bus.notify('accounts');
      return created(made);
    },
  }),
  route({
    method: 'GET',
    path: onePath,
    access: 'admin',
    scope: 'admin',
    summary: 'Get a service key, without its secret',
    params,
    answers: { 200: keyJson, ...noSuchKey },
    handler: async ({ params: { id } }) => ok(await getKey(database.query, id)),
  }),
  route({
    method: 'PATCH',
    path: onePath,
    access: 'admin',
    scope: 'admin',
    summary: 'Change a service key; the change takes effect within a second',
    params,
    body: keyChange,
    answers: { 200: keyJson, ...beyond, ...noSuchKey },
    async handler(input) {
      const changed = await changeKey(database, input.params.id, changesIn(input.body), nowSec(), actorOf(input));
      bus.notify('accounts');
      return ok(changed);
    },
  }),
  route({
    method: 'DELETE',
    path: onePath,
    access: 'admin',
    scope: 'admin',
    summary: 'Revoke a service key; it is refused within a second',
    params,
    answers: { 200: z.null(), ...noSuchKey },
    async handler(input) {
      await deleteKey(database, input.params.id, actorOf(input));
      bus.notify('accounts');
      return ok(null);
    },
  }),
];

/** The members in a body that change a key. */
function changesIn({ name, scopes, expires_at, allowed_cidrs, rate_label, rate_limited }: z.output<typeof keyChange>) {
  const changes = { name, scopes, expires_at, allowed_cidrs, rate_label, rate_limited };
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}
