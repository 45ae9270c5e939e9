import type { Answer, Client } from '../harness/clients/client.ts';
import { listAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import type { Scenario } from '../harness/stacks/scenario.ts';
import type { Target } from '../harness/stacks/target.ts';

export const batchPath = '/api/v1/batch';

/** Sends operations as a batch. */
export const sendBatch = (client: Client, operations: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  client.send('POST', batchPath, { body: { operations }, headers });

/** Creates a shop's collections, with this prefix. */
export async function openShop(target: Target, prefix: string): Promise<void> {
  const admin = await target.admin();
  const define = (name: string, fields: readonly object[], more: object = {}) =>
    admin.post('/api/v1/collections', { name: `${prefix}_${name}`, type: 'base', fields, ...more });
  const relation = (name: string, to: string, options: object) => ({
    name,
    type: 'relation',
    collection: `${prefix}_${to}`,
    options,
  });
  await define('tags', [{ name: 'name', type: 'text', options: { unique: true } }]);
  await define(
    'orders',
    [
      { name: 'title', type: 'text', required: true },
      { name: 'slug', type: 'text', options: { unique: true } },
      { name: 'total', type: 'number', options: { default: 0 } },
      { name: 'index', type: 'number', options: { max: 5 } },
      { name: 'meta', type: 'json' },
      relation('tags', 'tags', { multiple: true, cascade: 'setNull' }),
    ],
    { history_enabled: true },
  );
  await define('lines', [
    { name: 'name', type: 'text' },
    { name: 'n', type: 'number' },
    relation('order', 'orders', { cascade: 'cascade' }),
  ]);
  await define('closed', [{ name: 'name', type: 'text' }], { create_rule: '', update_rule: '', delete_rule: '' });
  await define('few', [{ name: 'name', type: 'text' }], {
    create_rule: `not exists(${prefix}_few, name = record.name)`,
    delete_rule: `exists(${prefix}_few, name != record.name)`,
  });
  await define('chain', [{ name: 'n', type: 'number' }]);
  const fields = [{ name: 'n', type: 'number' }, relation('of', 'chain', { cascade: 'setNull' })];
  await admin.patch(`/api/v1/collections/${prefix}_chain`, { fields, update_rule: 'of.n != 2' });
}

/** An answer with these results. */
export const done = (...data: readonly unknown[]) => ({ status: 200, json: { data } });

/** What a create or an update answers. */
export const result = (status: 200 | 201, data: object) => ({
  status,
  data: is.containing(data as Record<string, unknown>),
  etag: is.etag,
});

/** What a delete answers. */
export const deleted = { status: 200, data: null, etag: null };

/** A refusal for the operation with this index. */
export const refusedAt = (status: number, index: number, details: Record<string, unknown> = {}) => ({
  status,
  json: { error: is.text, code: is.code, details: { index, ...details } },
});

/** How many records a collection has. */
export const countOf = async (client: Client, collection: string): Promise<number> =>
  listAt((await client.get(`/api/v1/${collection}?perPage=500`)).json, 'data').length;

/** A batch's request. */
export const batchRequest = `POST ${batchPath}`;

/** A row in a scenario table: a batch and its answer. */
export const batch = (spec: string, name: string, operations: unknown, expect: Scenario['expect'], more: object = {}) =>
  ({ name, request: batchRequest, body: { operations }, expect, spec: `batch ${spec}`, ...more }) satisfies Scenario;
