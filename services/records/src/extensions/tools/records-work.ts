import type { Database, Query } from '@recordbus/database';
import type { QuerySchema } from '@recordbus/query';
import type { Collection, RuleName } from '@recordbus/schema';
import type { DeleteRules } from '../../delete/deletion.ts';
import { type RecordReads, readsWithin } from '../../read/record-reads.ts';
import type { ServedCollections } from '../../record/served-collections.ts';
import { type Call, callOf } from '../../rules/rule-context.ts';
import { type RunWrite, runWithin } from '../../write/write-unit.ts';
import type { BeforeHooks } from '../hooks/before-hooks.ts';
import { type ActingCaller, principalOfActing } from './acting-caller.ts';
import type { ToolCall } from './tool.ts';

/** What the records tools depend on. */
export interface RecordsToolsDeps extends Omit<DeleteRules, 'hooks'> {
  readonly database: Pick<Database, 'query'>;
  readonly write: RunWrite;
  readonly reads: RecordReads;
  readonly collections: ServedCollections;
  readonly schema: QuerySchema;
  readonly beforeHooks: BeforeHooks;
}

/** What a tool call does with a collection's records. */
interface WorkRequest {
  readonly as: ActingCaller;
  readonly collection: string;
  /** Several actions if only the write finds out which one it is. */
  readonly action: RuleName | readonly ['update', 'create'];
  /** A write's body. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** What a tool call's work runs with. */
export interface RecordsWork {
  readonly query: Query;
  readonly write: RunWrite;
  readonly reads: RecordReads;
  readonly collection: Collection;
  readonly call: Call;
  /** With the hooks for writes by tool calls. */
  readonly rules: DeleteRules;
}

/** The HTTP methods, as rules see them. */
const methods: Readonly<Record<RuleName, string>> = {
  list: 'GET',
  view: 'GET',
  create: 'POST',
  update: 'PATCH',
  delete: 'DELETE',
};

const methodOf = (action: WorkRequest['action']): string => (typeof action === 'string' ? methods[action] : 'PUT');

/** Runs a tool call's work as its acting caller, as a part of its transaction if it has one. */
export async function workOnRecords<T>(
  deps: RecordsToolsDeps,
  toolCall: ToolCall,
  { as, collection: name, action, body }: WorkRequest,
  work: (work: RecordsWork) => Promise<T>,
): Promise<T> {
  const { schema, collections, database, write, reads } = deps;
  const { transaction, context } = toolCall.scope;
  const { query } = transaction ?? database;
  const principal = await principalOfActing(query, schema, toolCall.extension, as);
  const rules = { ...deps, hooks: deps.beforeHooks.within(toolCall) };
  const input = { context: { ...context, principal }, body, queryText: () => undefined, header: () => undefined };
  const call = callOf(methodOf(action), input, { schema });
  return collections.serve({ collection: name, action, principal }, (collection) =>
    transaction
      ? transaction.part((part) =>
          work({
            query: part.query,
            write: runWithin(part),
            reads: readsWithin(part.query, reads),
            collection,
            call,
            rules,
          }),
        )
      : work({ query, write, reads, collection, call, rules }),
  );
}
