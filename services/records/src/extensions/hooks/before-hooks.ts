import type { Query } from '@recordbus/database';
import { type BeforePoint, type ExtensionHost, everyCollection } from '@recordbus/extension-host';
import type { Write } from '@recordbus/extensions';
import { createParameters } from '@recordbus/query';
import { type Collection, compileRecordReader, type FieldSealing } from '@recordbus/schema';
import { AppError, upstreamTimeout } from '@recordbus/shared/errors';
import { composeLock } from '../../delete/delete-sql.ts';
import { findRecord } from '../../read/get-record.ts';
import { isRecordId } from '../../record/record-id.ts';
import { type Asking, compileRule, isAsked } from '../../rules/compile-rule.ts';
import { perCollection } from '../../sql/prepared.ts';
import type { Operation, PendingWrite, WriteHooks } from '../../write/write-hooks.ts';
import type { Unwritten } from '../../write/written-record.ts';
import { type CallScope, rootScope } from '../call-scope.ts';
import { callerOf } from '../caller-of.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { divideTransaction } from '../write-transaction.ts';

/** As WriteHooks, for writes of extensions too: the scope is that of the call that writes. */
export interface BeforeHooks extends WriteHooks {
  find(collection: Collection, operation: Operation): BeforeHookedWrite | undefined;
}

type BeforeHookedWrite = (
  write: PendingWrite,
  scope?: CallScope,
) => Promise<{ readonly outcome: 'ready'; readonly body: Readonly<Record<string, unknown>> } | Unwritten>;

interface BeforeHooksDeps {
  readonly host: Pick<ExtensionHost, 'extensions' | 'call'>;
  readonly toolbox: Toolbox;
  readonly sealing: FieldSealing;
}

/** For all before hooks of a write, those of the writes that they lead to included: rows are locked meanwhile. */
const budgetMs = 5000;

/** What is called when; the fields are checked between the two phases. */
const phases: Readonly<Record<Operation, readonly [readonly BeforePoint[], readonly BeforePoint[]]>> = {
  create: [['beforeValidate'], ['afterValidate', 'beforeCreate']],
  update: [['beforeValidate'], ['afterValidate', 'beforeUpdate']],
  delete: [[], ['beforeDelete']],
};

/** Makes the before hooks of the extensions that are loaded. */
export function createBeforeHooks({ host, toolbox, sealing }: BeforeHooksDeps): BeforeHooks {
  const known = new Map<string, boolean>();
  let knownOf: ExtensionHost['extensions'] = [];

  const hooksOf = (collection: Collection, points: readonly BeforePoint[]) =>
    points.flatMap((point) =>
      host.extensions.flatMap(({ name, description }) =>
        [everyCollection, collection.name].flatMap((listed) =>
          description.hooks.some((hook) => hook.point === point && hook.collection === listed)
            ? [{ extension: name, target: { kind: 'hook', collection: listed, point } as const }]
            : [],
        ),
      ),
    );

  async function run(operation: Operation, write: PendingWrite, outer: CallScope): ReturnType<BeforeHookedWrite> {
    const { query, collection, id, context } = write;
    const transaction = divideTransaction(query);
    const deadlineMs = Math.min(outer.deadlineMs, performance.now() + budgetMs);
    const scope: CallScope = { ...outer, context, transaction, deadlineMs };
    try {
      if (!outer.transaction) await query({ text: `set local statement_timeout = ${budgetMs}`, values: [] });
      const found = id === undefined ? undefined : await lockRecord(operation, write, id, sealing);
      if (found && 'outcome' in found) return found;
      const { shown, withheld } = withholdPasswords(collection, write.body);
      let values = shown;
      const callAll = async (points: readonly BeforePoint[]) => {
        for (const { extension, target } of hooksOf(collection, points)) {
          const remainingMs = deadlineMs - performance.now();
          if (remainingMs <= 0) throw upstreamTimeout(`the hooks of the write took longer than ${budgetMs} ms`);
          const input: Write = {
            operation,
            collection: collection.name,
            id,
            values,
            previous: found?.record,
            caller: callerOf(context.principal),
            requestId: context.requestId,
          };
          const text = await host.call(extension, {
            target,
            input,
            timeoutMs: Math.ceil(remainingMs),
            answer: toolbox(extension, scope),
            within: outer.workers.get(extension),
          });
          values = readValues(text);
        }
      };
      const [first, second] = phases[operation];
      await callAll(first);
      if (operation !== 'delete') checkFields(write, operation, values);
      await callAll(second);
      return { outcome: 'ready', body: { ...withheld, ...values } };
    } finally {
      transaction.close();
    }
  }

  /** Asked at every write: found once for a collection and the extensions that are loaded. */
  function isHooked({ name }: Collection, operation: Operation): boolean {
    if (knownOf !== host.extensions) known.clear();
    knownOf = host.extensions;
    const key = `${operation} ${name}`;
    let found = known.get(key);
    if (found === undefined) {
      const points = phases[operation].flat();
      found = host.extensions.some(({ description }) =>
        description.hooks.some(
          ({ point, collection }) =>
            points.some((one) => one === point) && (collection === everyCollection || collection === name),
        ),
      );
      known.set(key, found);
    }
    return found;
  }

  return {
    find(collection, operation) {
      if (!isHooked(collection, operation)) return undefined;
      return (write, scope) => run(operation, write, scope ?? rootScope(write.context));
    },
  };
}

const ruledLocks = { update: perCollectionLock('update'), delete: perCollectionLock('delete') };

function perCollectionLock(action: 'update' | 'delete') {
  return perCollection((collection, schema: Asking['schema']) => {
    const parameters = createParameters(2);
    const rule = compileRule(collection, action, schema, { row: 'old', stored: 'old', parameters });
    return { text: composeLock(collection, rule), parameters };
  });
}

/** Locks the record that is to be written on, if it is there, the caller may and it is of a version that they named. */
async function lockRecord(
  operation: Operation,
  { query, collection, versions, asking }: PendingWrite,
  id: string,
  sealing: FieldSealing,
): Promise<{ readonly record: Record<string, unknown> } | Unwritten> {
  if (!isRecordId(id)) return { outcome: 'missing' };
  const action = operation === 'delete' ? 'delete' : 'update';
  const { text, parameters } = isAsked(collection, action, asking.principal)
    ? ruledLocks[action](collection, asking.schema)
    : { text: composeLock(collection), parameters: undefined };
  const values = [id, ...(parameters?.values(asking.request) ?? [])];
  const [row] = await query<{ updatedAtSec: number; isAllowed?: boolean }>({ text, values });
  if (!row) return { outcome: 'missing' };
  if (row.isAllowed === false) return { outcome: 'refused' };
  const { updatedAtSec } = row;
  if (versions && !versions.includes(updatedAtSec)) return { outcome: 'mismatch', updatedAtSec };
  return readStored(query, collection, id, asking, sealing);
}

async function readStored(query: Query, collection: Collection, id: string, asking: Asking, sealing: FieldSealing) {
  const principal = { type: 'admin', id: 'extension', email: '' } as const;
  const found = await findRecord(query, collection, { id }, { ...asking, principal }, sealing);
  if (!found) return { outcome: 'missing' } as const;
  return { record: JSON.parse(found.body).data as Record<string, unknown> };
}

/** Code of extensions never sees a password. */
function withholdPasswords(collection: Collection, body: PendingWrite['body']) {
  const secret = new Set(collection.fields.filter(({ type }) => type === 'password').map(({ name }) => name));
  const isSecret = (name: string) =>
    secret.has(name) || (collection.type === 'auth' && (name === 'password' || name === 'old_password'));
  const entries = Object.entries(body);
  return {
    shown: Object.fromEntries(entries.filter(([name]) => !isSecret(name))),
    withheld: Object.fromEntries(entries.filter(([name]) => isSecret(name))),
  };
}

const readerOf = perCollection(compileRecordReader);

/** Throws 422 as the write itself would; what is withheld is checked there. */
function checkFields(
  { collection, given }: PendingWrite,
  operation: Operation,
  values: Readonly<Record<string, unknown>>,
): void {
  const reader = readerOf(collection);
  if (operation === 'update') {
    reader.readChange(values);
    return;
  }
  try {
    reader.readNew(values, given);
  } catch (error) {
    const details = error instanceof AppError ? (error.details ?? {}) : undefined;
    const passwords = collection.fields.filter(({ type }) => type === 'password').map(({ name }) => name);
    if (!details || Object.keys(details).some((name) => !passwords.includes(name))) throw error;
  }
}

function readValues(text: unknown): Record<string, unknown> {
  const values: unknown = JSON.parse(String(text));
  if (typeof values === 'object' && values !== null && !Array.isArray(values)) return { ...values };
  throw new AppError(500, 'extension_failed', 'a hook left values that are no object');
}
