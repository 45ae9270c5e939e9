import type { PocketBaseCollection } from '@recordbus/pocketbase/rules';
import type { Collection } from '@recordbus/schema';
import type { Exchange, Reply } from './exchange.ts';
import { callForJson, type JsonObject } from './product.ts';
import { toGeneralRefusal } from './records/to-refusal.ts';
import { needsToken, notFound, Refusal } from './refusal.ts';

/** `collections` and `collections/{collection}`: the definitions, for admins. Rules are shown in our language. */
export async function serveCollections({ call, catalog }: Exchange, nameOrId: string | undefined): Promise<Reply> {
  // The product decides who may read definitions; what it answers is in the catalog too.
  const answer = await callForJson(call, { method: 'GET', path: '/api/v1/collections' });
  if (answer.status === 401) throw needsToken();
  if (answer.status === 403) throw new Refusal(403, 'The authorized record is not allowed to perform this action.');
  const refusal = toGeneralRefusal(answer);
  if (refusal) throw refusal;
  const show = (collection: Collection) => toDefinition(collection, catalog.definitionOf(collection));
  if (nameOrId !== undefined) {
    const collection = catalog.find(nameOrId);
    if (!collection) throw notFound();
    return { status: 200, body: show(collection) };
  }
  const items = catalog.all.map(show);
  const { length } = items;
  return {
    status: 200,
    body: { items, page: 1, perPage: Math.max(length, 30), totalItems: length, totalPages: length > 0 ? 1 : 0 },
  };
}

const toDefinition = ({ rules }: Collection, { id, name, type, fields }: PocketBaseCollection): JsonObject => ({
  id,
  name,
  type,
  system: false,
  fields: fields.map((field) => ({ hidden: false, system: false, id: field.name, ...field })),
  indexes: [],
  listRule: toTheirs(rules.list),
  viewRule: toTheirs(rules.view),
  createRule: toTheirs(rules.create),
  updateRule: toTheirs(rules.update),
  deleteRule: toTheirs(rules.delete),
});

/** Null and `""` change places. */
const toTheirs = (rule: string | null): string | null => (rule === null ? '' : rule === '' ? null : rule);
