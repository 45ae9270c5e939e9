import type { Batch, Operation } from '@recordbus/client';
import { type ClientCall, dataOf, hasOnly, isObject, type Wanted } from './client-call.ts';

type Json = Readonly<Record<string, unknown>>;
type Handles = ReadonlyMap<string, Operation<Record<string, unknown>>>;

const members = ['op', 'collection', 'id', 'on', 'data', 'if_match', 'as'];

/** Returns the `batch(…)` call that matches a request with operations that the client can build. */
export function batchCallOf({ method, resource, body, query, headers }: Wanted): ClientCall | undefined {
  if (method !== 'POST' || !/^\/api\/v1\/batch$/.test(resource) || !hasOnly(query, [])) return undefined;
  if (!isObject(body) || !hasOnly(body, ['operations']) || !Array.isArray(body.operations)) return undefined;
  if ('if-match' in headers || 'if-none-match' in headers) return undefined;
  const key = headers['idempotency-key'] ?? headers['x-service-idempotency-key'];
  const operations: readonly unknown[] = body.operations;
  const names = new Set<string>();
  for (const operation of operations) {
    if (!isBuildable(operation, names)) return undefined;
    if (typeof operation.as === 'string') names.add(operation.as);
  }
  return {
    run: (client) =>
      client.batch(
        (batch) => build(batch as unknown as Batch<never>, operations as readonly Json[]),
        key === undefined ? {} : { idempotencyKey: key },
      ),
    expected: (json) => (dataOf(json) as readonly Json[]).map(({ data }) => data),
  };
}

/** Whether the client has a function for an operation. Malformed operations go over plain HTTP. */
function isBuildable(operation: unknown, names: ReadonlySet<string>): operation is Json {
  if (!isObject(operation) || !hasOnly(operation, members)) return false;
  const { op, collection, id, on, data, if_match: tag, as } = operation;
  const hasId = typeof id === 'string' ? id !== '' : isReference(id);
  if (typeof collection !== 'string' || (id !== undefined && !hasId)) return false;
  if (tag !== undefined && (typeof tag !== 'string' || tag === '' || typeof id !== 'string')) return false;
  if (as !== undefined && (typeof as !== 'string' || !/^[A-Za-z_]\w*$/.test(as) || names.has(as))) return false;
  if (on !== undefined && (op !== 'upsert' || id !== undefined || !Array.isArray(on))) return false;
  if (op === 'upsert' && id === undefined && on === undefined) return false;
  if ((op === 'update' || op === 'delete') && id === undefined) return false;
  if (op === 'create' && (tag !== undefined || isReference(id))) return false;
  if (op === 'delete' ? data !== undefined : !isObject(data)) return false;
  // In a json field a reference is a value, which the client would rename.
  if (isObject(data) && isObject(data.meta)) return false;
  return ['create', 'update', 'upsert', 'delete'].includes(String(op)) && referencesAreKnown(operation, names);
}

const isReference = (value: unknown): value is { readonly $ref: string } =>
  isObject(value) && hasOnly(value, ['$ref']) && typeof value.$ref === 'string' && /^\w+\./.test(value.$ref);

/** The client chooses the names itself, so it cannot send a reference to an unknown name. */
const referencesAreKnown = (value: unknown, names: ReadonlySet<string>): boolean => {
  if (isObject(value) && '$ref' in value) return isReference(value) && names.has(value.$ref.split('.')[0] ?? '');
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every((inner) => referencesAreKnown(inner, names));
};

function build(batch: Batch<never>, operations: readonly Json[]): readonly unknown[] {
  const handles = new Map<string, Operation<Record<string, unknown>>>();
  return operations.map((operation) => {
    const handle = add(batch, operation, handles);
    if (typeof operation.as === 'string') handles.set(operation.as, handle);
    return handle;
  });
}

function add(batch: Batch<never>, operation: Json, handles: Handles): Operation<Record<string, unknown>> {
  const { op, collection, id, on, data, if_match: ifMatch } = withReferences(operation, handles) as Json;
  const from = batch.from(collection as never) as unknown as Record<string, (...args: unknown[]) => never>;
  const options = { ifMatch };
  if (op === 'create') return from.create?.(data, { id }) as never;
  if (op === 'delete') return from.delete?.(id, options) as never;
  return from[String(op)]?.(op === 'upsert' && on ? { on } : id, data, options) as never;
}

/** Replaces the scenario's references with the client's. */
function withReferences(value: unknown, handles: Handles): unknown {
  if (isReference(value)) {
    const [, name = '', member = ''] = /^(\w+)\.(.*)$/s.exec(value.$ref) ?? [];
    return handles.get(name)?.ref(member) ?? value;
  }
  if (Array.isArray(value)) return value.map((inner) => withReferences(inner, handles));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withReferences(inner, handles)]));
}
