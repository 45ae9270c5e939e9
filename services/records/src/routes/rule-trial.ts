import { findUserById } from '@recordbus/accounts';
import { validationFailed } from '@recordbus/errors';
import { ok, type Route, route } from '@recordbus/http';
import { mapOf } from '@recordbus/http/map-of';
import { checkRule, findSources, QueryError } from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import type { Collection, Rule } from '@recordbus/schema';
import { z } from 'zod';
import { callOf } from '../rules/rule-context.ts';
import { tryRule } from '../trial/try-rule.ts';
import { trySignIn } from '../trial/try-sign-in.ts';
import { anyRecord } from './record-schema.ts';
import { type RouteDeps, requestOf } from './route-deps.ts';

const body = z.strictObject({
  action: z.enum(['list', 'view', 'create', 'update', 'delete', 'sign_in']),
  rule: z.string('must be null or a string').nullable(),
  caller: z
    .strictObject({ collection: z.string(), id: z.string() })
    .nullable()
    .default(null)
    .describe('the user; null for a guest'),
  id: z.string().default('').describe('the record to view, update or delete, or the account that signs in'),
  body: mapOf(z.unknown()).default({}).describe("a create's or update's body"),
});

const verdict = z.object({
  admitted: z.boolean(),
  reason: z.string().nullable().describe('the refusal that the caller would get'),
  records: z.array(anyRecord).nullable().describe('the records that the caller would read, at most 10'),
  total: z.int().nullable().describe('how many records the list has'),
});

const methods = { list: 'GET', view: 'GET', create: 'POST', update: 'PATCH', delete: 'DELETE' } as const;

/** Tries a rule before it is saved (rules §7). */
export const ruleTrialRoute = (deps: RouteDeps, all: () => readonly Collection[]): Route =>
  route({
    method: 'POST',
    path: '/api/v1/admin/collections/:collection/try-rule',
    access: 'admin',
    scope: 'admin',
    summary: "Try a collection's rule for a user or a guest; nothing is written",
    params: z.object({ collection: z.string() }),
    body,
    answers: {
      200: verdict,
      404: 'no such collection or record',
      422: 'the rule cannot be evaluated, there is no such user, or the body is refused',
    },
    handler: (input) =>
      deps.collections.serve(requestOf('list', input), async (collection) => {
        const { action, rule, caller, id, body: sent } = input.body;
        if (action === 'sign_in' && collection.type !== 'auth')
          throw validationFailed({ action: 'only auth collections have a sign_in_rule' });
        if (collection.type === 'view' && action !== 'list' && action !== 'view')
          throw validationFailed({ action: 'a view collection is read-only' });
        refuseWrongRule(collection, { action, rule }, all());
        if (action === 'sign_in') return ok(await trySignIn(deps, collection, { rule, id }));
        const principal = caller ? await findCaller(deps, all(), caller) : guest;
        const context = { ...input.context, principal };
        const request = { context, body: sent, queryText: () => undefined, header: () => undefined };
        return ok(
          await tryRule(deps, collection, { action, rule, id, body: sent }, callOf(methods[action], request, deps)),
        );
      }),
  });

const guest: Principal = { type: 'guest', rejectedToken: false };

/** Throws 422 with the error's position, as a save does (rules §6). */
function refuseWrongRule(
  collection: Collection,
  { action, rule }: { readonly action: string; readonly rule: Rule },
  collections: readonly Collection[],
): void {
  if (!rule) return;
  const origin = {
    collection,
    schema: { findCollection: (name: string) => collections.find((other) => other.name === name) },
    accounts: collections.filter(({ type }) => type === 'auth'),
  };
  try {
    checkRule(rule, origin);
  } catch (error) {
    if (error instanceof QueryError) throw validationFailed({ rule: error.message });
    throw error;
  }
  if (action === 'sign_in' && findSources(rule, origin).readsRequest)
    throw validationFailed({ rule: 'cannot read @request: it is about the account alone' });
}

async function findCaller(
  { database }: Pick<RouteDeps, 'database'>,
  collections: readonly Collection[],
  { collection: name, id }: { readonly collection: string; readonly id: string },
): Promise<Principal> {
  const collection = collections.find((other) => other.name === name && other.type === 'auth');
  const user = collection && (await findUserById(database.query, collection, id));
  if (!user) throw validationFailed({ caller: 'there is no such user' });
  const { email, verified, isAnonymous } = user;
  return { type: 'user', id, email, collection: name, anonymous: isAnonymous, verified, impersonatedBy: null };
}
