import { type AppError, forbidden, unauthenticated } from '@recordbus/errors';
import {
  authOf,
  callerCollection,
  compileExpression,
  findRequestNames,
  type Parameters,
  QueryError,
  type QuerySchema,
  type RequestValues,
} from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';
import { userFields } from '../user.ts';

/**
 * Whether the create rule is checked for a new account, however it is created (auth §3.3). Admins pass every rule, and
 * `""` only closes the records API.
 */
export const isSignUpChecked = ({ rules }: Pick<Collection, 'rules'>, principal: Principal): boolean =>
  Boolean(rules.create) && principal.type !== 'admin';

/** What a create rule is compiled for. */
export interface SignUpCheck {
  readonly schema: QuerySchema;
  readonly principal: Principal;
}

/** The create rule as a condition on the row `draft`. */
export function compileSignUpRule(
  collection: Collection,
  { schema, principal }: SignUpCheck,
  parameters: Parameters,
): string {
  const caller = callerCollection(principal, schema);
  const place = { row: 'draft', parameters, collation: schema.collation };
  try {
    return compileExpression(collection.rules.create ?? '', { collection, schema, audience: 'rule', caller }, place);
  } catch (error) {
    // A rule that cannot be compiled, such as one whose fields have just changed, admits nobody. It has added
    // no parameter yet.
    if (error instanceof QueryError) return 'false';
    throw error;
  }
}

/** The create rule's refusal: 401 for a guest with an invalid token, otherwise 403. */
export const refusedByRule = (principal: Principal): AppError =>
  principal.type === 'guest' && principal.rejectedToken
    ? unauthenticated('the token is not valid')
    : forbidden("the collection's rule does not allow it");

/** 403 for a collection whose accounts only admins create. */
export const signUpClosed = (): AppError => forbidden('sign-up is closed for this collection', 'sign_up_closed');

const values = z.record(z.string(), z.string());

/** The request values that rules read at a sign-up, in the form that services exchange. */
export const signUpRequest = z
  .object({
    /** The client's body, without the password. */
    body: userFields,
    /** The values that the rule names, by the names in the rule. */
    query: values,
    headers: values,
  })
  .readonly();
export type SignUpRequest = z.infer<typeof signUpRequest>;

/** The request from which the values are read. */
interface Source {
  queryText(name: string): string | undefined;
  header(name: string): string | undefined;
}

/** Reads the values that a collection's create rule and its fields' write rules name; undefined without such rules. */
export function readSignUpRequest(
  { rules: { create }, fields }: Pick<Collection, 'rules' | 'fields'>,
  body: SignUpRequest['body'],
  { queryText, header }: Source,
): SignUpRequest | undefined {
  const writeRules = fields.flatMap(({ writeRule }) => writeRule ?? []);
  if (!create && writeRules.length === 0) return undefined;
  const names = [create ?? '', ...writeRules].map(findRequestNames);
  const found = (wanted: readonly string[], read: (name: string) => string | undefined) =>
    Object.fromEntries(
      wanted.flatMap((name): [string, string][] => {
        const value = read(name);
        return value === undefined ? [] : [[name, value]];
      }),
    );
  const namesIn = (part: 'query' | 'headers') => [...new Set(names.flatMap((one) => one[part]))];
  const byHyphens = (name: string) => header(name.replaceAll('_', '-'));
  return { body, query: found(namesIn('query'), queryText), headers: found(namesIn('headers'), byHyphens) };
}

/** Returns the values in the form that rules read. */
export const requestValuesOf = ({ body, query, headers }: SignUpRequest, principal: Principal): RequestValues => ({
  method: 'POST',
  auth: authOf(principal),
  body,
  query: (name) => ownText(query, name),
  header: (name) => ownText(headers, name.replaceAll('-', '_')),
});

const ownText = (texts: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(texts, name) ? texts[name] : undefined;
