import {
  checkRule,
  compileAddress,
  createParameters,
  findRequestNames,
  QueryError,
  readsRequestBody,
} from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import { settingFamilies } from '@recordbus/settings';

export const ofOwners = 'webhooks.owners.<collection>';

/** Finds why nobody could manage webhooks by the rule in the text, or get mail by its path (webhooks §9.1). */
export function findOwnersProblem(
  text: string,
  collection: Collection,
  collections: readonly Collection[],
): string | undefined {
  const owners = text === '' ? undefined : settingFamilies[ofOwners].schema.parse(text);
  if (!owners) return undefined;
  return (
    findRuleProblem(owners.manage_rule, collection, collections) ??
    findMailProblem(owners.mail, collection, collections)
  );
}

function findRuleProblem(rule: string, collection: Collection, collections: readonly Collection[]): string | undefined {
  if (rule === '') return undefined;
  const accounts = collections.filter(({ type }) => type === 'auth');
  const problem = problemOf(() => checkRule(rule, { collection, schema: schemaOf(collections), accounts }));
  if (problem !== undefined) return `manage_rule ${problem}`;
  const { query, headers } = findRequestNames(rule);
  return query.length > 0 || headers.length > 0 || readsRequestBody(rule)
    ? 'manage_rule can read @request.auth only'
    : undefined;
}

function findMailProblem(path: string, collection: Collection, collections: readonly Collection[]): string | undefined {
  if (path === '') return undefined;
  if (collection.type === 'auth') return 'mail is for records that are not accounts';
  const into = { row: 'owner', parameters: createParameters() };
  const problem = problemOf(() => compileAddress(path, { collection, schema: schemaOf(collections) }, into));
  return problem === undefined ? undefined : `mail: ${problem}`;
}

const schemaOf = (collections: readonly Collection[]) => ({
  findCollection: (name: string) => collections.find((one) => one.name === name),
});

function problemOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return error.message;
  }
}
