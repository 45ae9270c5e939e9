import { findEventNameProblem } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import { putEvent } from '@recordbus/journal';
import type { QuerySchema } from '@recordbus/query';
import { validationFailed } from '@recordbus/shared/errors';
import { z } from 'zod';
import { principalOfExtension } from '../call-scope.ts';
import { type Tool, tool } from './tool.ts';

interface DispatchDeps {
  readonly query: Query;
  readonly schema: Pick<QuerySchema, 'findCollection'>;
  readonly wakeRelay: () => void;
}

const maxPayloadBytes = 1024 * 1024;

/** `webhooks.dispatch`: puts a custom event into the outbox (interface §6.1), in the write's transaction for its hooks. */
export const dispatchTools = ({ query, schema, wakeRelay }: DispatchDeps): Readonly<Record<string, Tool>> => ({
  'webhooks.dispatch': tool(z.tuple([z.string(), z.string()]), async ({ extension, scope }, [event, payload]) => {
    const problem = findEventNameProblem(event) ?? findOwnerProblem(event, schema);
    if (problem) throw validationFailed({ event: problem });
    if (Buffer.byteLength(payload) > maxPayloadBytes)
      throw validationFailed({ payload: `may have at most ${maxPayloadBytes} bytes` });
    const context = { ...scope.context, principal: principalOfExtension(extension) };
    const put = (on: Query) => putEvent(on, { event, data: payload, context });
    const id = await (scope.transaction ? scope.transaction.part((part) => put(part.query)) : put(query));
    wakeRelay();
    return id;
  }),
});

/** Why a name is not for custom events, or undefined: the product has it for its own. */
function findOwnerProblem(event: string, { findCollection }: DispatchDeps['schema']): string | undefined {
  if (event.startsWith('system.') || event === 'webhooks.test') return 'is an event of the product';
  const [, collection, verb] = /^([^.]*)\.([^.]*)$/.exec(event) ?? [];
  if (collection && ['create', 'update', 'delete'].includes(verb ?? '') && findCollection(collection))
    return `is an event of the collection ${collection}`;
  return undefined;
}
