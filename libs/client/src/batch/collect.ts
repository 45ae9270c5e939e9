import type { Subject, UpsertTarget } from '../records/collection.ts';
import { idOf } from '../records/write.ts';
import type { IfMatch } from '../versions.ts';
import { type Expected, expectedOf } from '../versions.ts';
import type { Reference } from './operations.ts';

/** An operation to send, with the arguments that it was made from. */
export interface Collected {
  readonly json: Record<string, unknown>;
  readonly subject: Subject | undefined;
  readonly expected: Expected;
  readonly values: Readonly<Record<string, unknown>>;
}

const isReference = (subject: unknown): subject is Reference<string> =>
  typeof subject === 'object' && subject !== null && '$ref' in subject;

const anyVersion: Expected = { tag: undefined, isExact: true };

/** Collects operations in order. `indexOf` returns an operation's index. */
export function collector() {
  const operations: Collected[] = [];
  const indexes = new Map<unknown, number>();

  function add(
    op: string,
    collection: string,
    json: object,
    values: unknown = {},
    subject?: Subject,
    expected = anyVersion,
  ): object {
    const index = operations.length;
    const operation = {
      json: { op, collection, ...json } as Record<string, unknown>,
      subject,
      expected,
      values: Object(values) as Collected['values'],
    };
    operations.push(operation);
    const handle = {
      deletes: op === 'delete' || undefined,
      ref(member: string) {
        operation.json.as = `r${index}`;
        return { $ref: `r${index}.${member}` };
      },
    };
    indexes.set(handle, index);
    return handle;
  }

  function change(
    op: string,
    collection: string,
    subject: Subject | Reference<string>,
    values: unknown,
    ifMatch: IfMatch,
  ) {
    if (isReference(subject)) return add(op, collection, { id: subject }, values);
    return add(op, collection, { id: idOf(subject) }, values, subject, expectedOf(subject, ifMatch));
  }

  const from = (collection: string) => ({
    create: (values: unknown, { id }: { readonly id?: string } = {}) =>
      add('create', collection, id === undefined ? {} : { id }, values),
    update: (subject: Subject | Reference<string>, values: unknown, { ifMatch }: Options = {}) =>
      change('update', collection, subject, values, ifMatch),
    upsert(target: UpsertTarget<object> | Reference<string>, values: unknown, { ifMatch }: Options = {}) {
      if (typeof target === 'string') return change('upsert', collection, target, values, ifMatch);
      return add('upsert', collection, isReference(target) ? { id: target } : { on: target.on }, values);
    },
    delete: (subject: Subject | Reference<string>, { ifMatch }: Options = {}) =>
      change('delete', collection, subject, undefined, ifMatch),
  });
  return { operations, from, indexOf: (handle: unknown) => indexes.get(handle) };
}

interface Options {
  readonly ifMatch?: IfMatch;
}
