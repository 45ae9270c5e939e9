import type { Collection } from '@recordbus/schema';
import { type BatchFile, type BatchForm, readBatchForm, writeBatchForm } from './batch-form.ts';
import { fieldNamed } from './catalog.ts';
import { collectionOf, type Exchange, type Reply, readJson, saysAdmin } from './exchange.ts';
import { callForJson, isObject, isSuccess, type JsonAnswer, type JsonObject } from './product.ts';
import { pickFields } from './records/pick-fields.ts';
import { readExpand } from './records/read-expand.ts';
import { toBody } from './records/to-body.ts';
import { toRecord } from './records/to-record.ts';
import { toGeneralRefusal, toRecordRefusal } from './records/to-refusal.ts';
import { blank, type MemberRefusals, notFound, Refusal } from './refusal.ts';

const path = '/api/v1/batch';
/** As our batches (batch §1.2). */
const maxBatchBytes = 16 * 1024 * 1024;

type Action = 'create' | 'update' | 'delete';

/** One request of a batch, as an operation here. */
interface Operation {
  readonly collection: Collection;
  readonly action: Action;
  readonly shown: { readonly fields: string | null; readonly expand: string | null };
  readonly ours: JsonObject;
}

/** `batch`: several writes, all or none. */
export async function serveBatch(exchange: Exchange): Promise<Reply> {
  const { request, call } = exchange;
  const isForm = request.contentType.startsWith('multipart/form-data');
  const { body, files }: BatchForm = isForm
    ? await readBatchForm(request, maxBatchBytes)
    : { body: await readJson(request, maxBatchBytes), files: [] };
  const operations = toOperations(exchange, body, files);
  const ours = operations.map((operation) => operation.ours);
  const sent = files.filter(({ index, field }) => isFileOf(operations[index], field));
  const content = sent.length > 0 ? { form: writeBatchForm(ours, sent) } : { body: { operations: ours } };
  const answer = await callForJson(call, { method: 'POST', path, ...content });
  if (!isSuccess(answer)) throw batchRefusal(answer, operations);
  const results: readonly unknown[] = Array.isArray(answer.json.data) ? answer.json.data : [];
  const shown = await Promise.all(results.map((result, index) => toResult(exchange, operations[index], result)));
  return { status: 200, body: shown };
}

const isFileOf = (operation: Operation | undefined, name: string): boolean =>
  operation !== undefined && fieldNamed(operation.collection, name)?.type === 'file';

function toOperations(exchange: Exchange, body: JsonObject, files: readonly BatchFile[]): Operation[] {
  const { requests } = body;
  if (!Array.isArray(requests) || requests.length === 0)
    throw new Refusal(400, 'Invalid batch request data.', { requests: blank });
  const uploads = requests.map(() => new Map<string, boolean>());
  for (const { index, field, isAdded } of files) uploads[index]?.set(field, isAdded);
  return requests.map((request, index) => {
    try {
      return toOperation(exchange, request, uploads[index]);
    } catch (error) {
      throw error instanceof Refusal ? atIndex(index, error) : error;
    }
  });
}

const recordUrl = /^(?:[^?#]{0,200})?\/api\/collections\/([^/?#]{1,200})\/records(?:\/([^/?#]{1,200}))?(?:\?([^#]*))?$/;

function toOperation(exchange: Exchange, given: unknown, uploads: ReadonlyMap<string, boolean> = new Map()): Operation {
  if (!isObject(given)) throw notFound();
  const { method, url, body } = given;
  const [, name, id, search] = recordUrl.exec(typeof url === 'string' ? url : '') ?? [];
  const collection = collectionOf(exchange, name === undefined ? '' : decode(name));
  const query = new URLSearchParams(search ?? '');
  const shown = { fields: query.get('fields'), expand: query.get('expand') };
  const record = isObject(body) ? body : {};
  const at = { collection: collection.name };
  if (method === 'DELETE' && id !== undefined)
    return { collection, action: 'delete', shown, ours: { op: 'delete', ...at, id: decode(id) } };
  const isNew = id === undefined;
  if (!(isNew ? ['POST', 'PUT'] : ['PATCH']).includes(String(method))) throw notFound();
  const {
    data,
    id: chosen,
    refusals,
  } = toBody(collection, record, {
    id: id === undefined ? undefined : decode(id),
    isAdmin: saysAdmin(exchange.request),
    uploads,
  });
  if (Object.keys(refusals).length > 0)
    throw new Refusal(400, isNew ? 'Failed to create record.' : 'Failed to update record.', refusals);
  if (id !== undefined)
    return { collection, action: 'update', shown, ours: { op: 'update', ...at, id: decode(id), data } };
  const op = method === 'PUT' && chosen !== undefined ? 'upsert' : 'create';
  return {
    collection,
    action: 'create',
    shown,
    ours: { op, ...at, ...(chosen !== undefined && { id: chosen }), data },
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notFound();
  }
}

async function toResult(exchange: Exchange, operation: Operation | undefined, result: unknown): Promise<JsonObject> {
  if (!operation || !isObject(result) || !isObject(result.data)) return { status: 204, body: null };
  const { collection, shown } = operation;
  const record = toRecord(exchange.catalog, collection, result.data);
  const expand = await readExpand(exchange, collection, { id: record.id, paths: shown.expand });
  return { status: 200, body: pickFields({ ...record, ...expand }, shown.fields) };
}

function batchRefusal(answer: JsonAnswer, operations: readonly Operation[]): Refusal {
  const { details } = answer.json;
  const { index, ...members }: JsonObject = isObject(details) ? details : {};
  const operation = typeof index === 'number' ? operations[index] : undefined;
  if (typeof index !== 'number' || !operation)
    return toGeneralRefusal(answer) ?? new Refusal(400, 'Batch transaction failed.');
  const own = { ...answer, json: { ...answer.json, details: Object.keys(members).length > 0 ? members : undefined } };
  return atIndex(index, toRecordRefusal(own, operation.action, operation.collection));
}

function atIndex(index: number, refusal: Refusal): Refusal {
  const requests: MemberRefusals = {
    [index]: { code: 'batch_request_failed', message: 'Batch request failed.', response: refusal.body },
  };
  return new Refusal(400, 'Batch transaction failed.', { requests });
}
