import { type BeforePoint, type ExtensionHost, everyCollection } from '@recordbus/extension-host';
import type { Write } from '@recordbus/extensions';
import { type Collection, compileRecordReader } from '@recordbus/schema';
import { AppError, upstreamTimeout } from '@recordbus/shared/errors';
import { perCollection } from '../../sql/prepared.ts';
import { hooksBudgetMs, type Operation, type PendingWrite, type WriteHooks } from '../../write/write-hooks.ts';
import { type CallScope, rootScope, scopeWithin } from '../call-scope.ts';
import { callerOf } from '../caller-of.ts';
import type { AskingCall } from '../tools/tool.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { divideTransaction } from '../write-transaction.ts';

/** The before hooks of writes that clients ask for. */
export interface BeforeHooks extends WriteHooks {
  /** Those of writes that a call of an extension asks for, and all that these lead to. */
  within(call: AskingCall): WriteHooks;
}

interface BeforeHooksDeps {
  readonly host: Pick<ExtensionHost, 'extensions' | 'call'>;
  readonly toolbox: Toolbox;
}

/** What is called when; the fields are checked between the two phases. */
export const phases: Readonly<Record<Operation, readonly [readonly BeforePoint[], readonly BeforePoint[]]>> = {
  create: [['beforeValidate'], ['afterValidate', 'beforeCreate']],
  update: [['beforeValidate'], ['afterValidate', 'beforeUpdate']],
  delete: [[], ['beforeDelete']],
};

/** Makes the before hooks of the extensions that are loaded. */
export function createBeforeHooks({ host, toolbox }: BeforeHooksDeps): BeforeHooks {
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

  async function run(operation: Operation, write: PendingWrite, outer: CallScope): Promise<PendingWrite['body']> {
    const { query, collection, id, previous, context } = write;
    const transaction = divideTransaction(query);
    const ownDeadlineMs = write.deadlineMs ?? performance.now() + hooksBudgetMs;
    const deadlineMs = Math.min(outer.deadlineMs, ownDeadlineMs);
    const scope: CallScope = { ...outer, context, transaction, deadlineMs };
    const { shown, withheld } = withholdPasswords(collection, write.body);
    let values = shown;
    const callAll = async (points: readonly BeforePoint[]) => {
      for (const { extension, target } of hooksOf(collection, points)) {
        const remainingMs = deadlineMs - performance.now();
        if (remainingMs <= 0) throw upstreamTimeout(`the hooks of the write took longer than ${hooksBudgetMs} ms`);
        const input: Write = {
          operation,
          collection: collection.name,
          id,
          values,
          previous,
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
    try {
      const [first, second] = phases[operation];
      await callAll(first);
      if (operation !== 'delete') checkFields(write, operation, values);
      await callAll(second);
      return { ...withheld, ...values };
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

  const hooksIn = (scopeOf: (write: PendingWrite) => CallScope): WriteHooks => ({
    find: (collection, operation) =>
      isHooked(collection, operation) ? async (write) => run(operation, write, scopeOf(write)) : undefined,
  });

  return {
    ...hooksIn(({ context }) => rootScope(context)),
    within: ({ extension, scope, worker }) => hooksIn(() => scopeWithin(scope, extension, worker)),
  };
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
