import { type BeforePoint, type ExtensionHost, everyCollection } from '@recordbus/extension-host';
import type { Write } from '@recordbus/extensions';
import { type Collection, compileRecordReader, isWriteOnly } from '@recordbus/schema';
import { AppError, upstreamTimeout } from '@recordbus/shared/errors';
import { perCollection } from '../../record/prepared.ts';
import { hooksBudgetMs } from '../../write/hooks-budget.ts';
import type { Operation, PendingWrite, WriteHooks } from '../../write/write-hooks.ts';
import { type CallScope, rootScope, scopeWithin } from '../call-scope.ts';
import { callerOf } from '../caller-of.ts';
import type { ToolCall } from '../tools/tool.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { divideTransaction } from '../write-transaction.ts';

/** The before hooks of writes by clients. */
export interface BeforeHooks extends WriteHooks {
  /** The before hooks of writes that a tool call makes, and of writes that these cause. */
  within(call: ToolCall): WriteHooks;
}

interface BeforeHooksDeps {
  readonly host: Pick<ExtensionHost, 'extensions' | 'call'>;
  readonly toolbox: Toolbox;
}

/** The hook points of each operation in two phases. The fields are checked between the phases. */
export const phases: Readonly<Record<Operation, readonly [readonly BeforePoint[], readonly BeforePoint[]]>> = {
  create: [['beforeValidate'], ['afterValidate', 'beforeCreate']],
  update: [['beforeValidate'], ['afterValidate', 'beforeUpdate']],
  delete: [[], ['beforeDelete']],
};

/** Creates the before hooks of the loaded extensions. */
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
    const { unit, collection, id, previous, context } = write;
    const transaction = divideTransaction(unit);
    const ownDeadlineMs = write.deadlineMs ?? performance.now() + hooksBudgetMs;
    const deadlineMs = Math.min(outer.deadlineMs, ownDeadlineMs);
    const scope: CallScope = { ...outer, context, transaction, deadlineMs };
    const { visible, withheld } = withholdPasswords(collection, write.body);
    let values = visible;
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
      if (operation !== 'delete') await checkFields(write, operation, values);
      await callAll(second);
      return { ...withheld, ...values };
    } finally {
      transaction.close();
    }
  }

  /** Whether an operation has hooks. Every write checks it, so the result is cached while the same extensions are loaded. */
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

/** Splits passwords off a body: code of extensions never sees them. */
function withholdPasswords(collection: Collection, body: PendingWrite['body']) {
  const secret = new Set(collection.fields.filter(isWriteOnly).map(({ name }) => name));
  const isSecret = (name: string) =>
    secret.has(name) || (collection.type === 'auth' && (name === 'password' || name === 'old_password'));
  const entries = Object.entries(body);
  return {
    visible: Object.fromEntries(entries.filter(([name]) => !isSecret(name))),
    withheld: Object.fromEntries(entries.filter(([name]) => isSecret(name))),
  };
}

const readerOf = perCollection(compileRecordReader);

/** Throws 422 like the write itself. Withheld passwords are only checked by the write. */
async function checkFields(
  { collection, given }: PendingWrite,
  operation: Operation,
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  const reader = readerOf(collection);
  if (operation === 'update') {
    await reader.readChange(values);
    return;
  }
  try {
    await reader.readNew(values, given);
  } catch (error) {
    const details = error instanceof AppError ? (error.details ?? {}) : undefined;
    const passwords = collection.fields.filter(isWriteOnly).map(({ name }) => name);
    if (!details || Object.keys(details).some((name) => !passwords.includes(name))) throw error;
  }
}

function readValues(text: unknown): Record<string, unknown> {
  const values: unknown = JSON.parse(String(text));
  if (typeof values === 'object' && values !== null && !Array.isArray(values)) return { ...values };
  throw new AppError(500, 'extension_failed', 'the values of a hook are not an object');
}
