import { authOf, findRequestNames, type RequestValues } from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';
import { userFields } from './before-user-write.ts';

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
