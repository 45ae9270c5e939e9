import { upstreamTimeout } from '@recordbus/errors';
import type { BeforePoint, ExtensionHost } from '@recordbus/extension-host';
import type { Write } from '@recordbus/extensions';
import type { Operation, PendingWrite, WriteHooks } from '../../write/write-hooks.ts';
import { hooksBudgetMs } from '../../write/write-hooks.ts';
import { type CallScope, rootScope, scopeWithin } from '../call-scope.ts';
import { callerOf } from '../caller-of.ts';
import type { ToolCall } from '../tools/tool.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { divideTransaction } from '../write-transaction.ts';
import { createHasHooks, hooksAt, phases } from './before-points.ts';
import { checkFields, readValues, withholdPasswords } from './hook-values.ts';

/** The before hooks on clients' writes. */
export interface BeforeHooks extends WriteHooks {
  /** The before hooks on writes that a tool call makes, and on writes that these cause. */
  within(call: ToolCall): WriteHooks;
}

interface BeforeHooksDeps {
  readonly host: Pick<ExtensionHost, 'extensions' | 'call'>;
  readonly toolbox: Toolbox;
}

/** Creates the loaded extensions' before hooks. */
export function createBeforeHooks(deps: BeforeHooksDeps): BeforeHooks {
  const hasHooks = createHasHooks(deps.host);
  const hooksIn = (scopeOf: (write: PendingWrite) => CallScope): WriteHooks => ({
    find: ({ name }, operation) =>
      hasHooks(name, operation) ? async (write) => runHooks(deps, operation, write, scopeOf(write)) : undefined,
  });

  return {
    ...hooksIn(({ context }) => rootScope(context)),
    within: ({ extension, scope, worker }) => hooksIn(() => scopeWithin(scope, extension, worker)),
  };
}

/** Runs the hooks for a write that `outer` causes. Returns the body after the hooks' changes. */
async function runHooks(
  deps: BeforeHooksDeps,
  operation: Operation,
  write: PendingWrite,
  outer: CallScope,
): Promise<PendingWrite['body']> {
  const transaction = divideTransaction(write.unit);
  const ownDeadlineMs = write.deadlineMs ?? performance.now() + hooksBudgetMs;
  const deadlineMs = Math.min(outer.deadlineMs, ownDeadlineMs);
  const scope: CallScope = { ...outer, context: write.context, transaction, deadlineMs };
  const { visible, withheld } = withholdPasswords(write.collection, write.body);
  const [first, second] = phases[operation];
  const call = { operation, write, scope };
  try {
    const checked = await callHooks(deps, call, first, visible);
    if (operation !== 'delete') await checkFields(write, operation, checked);
    return { ...withheld, ...(await callHooks(deps, call, second, checked)) };
  } finally {
    transaction.close();
  }
}

interface HooksCall {
  readonly operation: Operation;
  readonly write: PendingWrite;
  /** The hooks' scope, with the write's transaction. */
  readonly scope: CallScope;
}

/** Calls hooks one after the other, each with the previous one's values. Throws 504 after the deadline. */
async function callHooks(
  { host, toolbox }: BeforeHooksDeps,
  { operation, write, scope }: HooksCall,
  points: readonly BeforePoint[],
  given: Write['values'],
): Promise<Write['values']> {
  const { collection, id, previous, context } = write;
  let values = given;
  for (const { extension, target } of hooksAt(host.extensions, collection.name, points)) {
    const remainingMs = scope.deadlineMs - performance.now();
    if (remainingMs <= 0) throw upstreamTimeout(`the write's hooks took longer than ${hooksBudgetMs} ms`);
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
      within: scope.workers.get(extension),
    });
    values = readValues(text);
  }
  return values;
}
