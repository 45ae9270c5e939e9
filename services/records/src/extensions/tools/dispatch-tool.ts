import { findEventNameProblem } from '@recordbus/bus';
import { validationFailed } from '@recordbus/errors';
import { putEvent } from '@recordbus/journal';
import type { QuerySchema } from '@recordbus/query';
import { z } from 'zod';
import type { RunWrite } from '../../write/write-unit.ts';
import { principalOfExtension, writeIn } from '../call-scope.ts';
import { type Tool, tool } from './tool.ts';

interface DispatchDeps {
  readonly write: RunWrite;
  readonly schema: Pick<QuerySchema, 'findCollection'>;
}

const maxPayloadBytes = 1024 * 1024;

/**
 * `webhooks.dispatch`: adds a custom event to the outbox (extensions §6.2), in the call's transaction if it has one.
 */
export const dispatchTools = ({ write, schema }: DispatchDeps): Readonly<Record<string, Tool>> => ({
  'webhooks.dispatch': tool(z.tuple([z.string(), z.string()]), async ({ extension, scope }, [event, payload]) => {
    const problem = findEventNameProblem(event) ?? findOwnerProblem(event, schema);
    if (problem) throw validationFailed({ event: problem });
    if (Buffer.byteLength(payload) > maxPayloadBytes)
      throw validationFailed({ payload: `may have at most ${maxPayloadBytes} bytes` });
    const context = { ...scope.context, principal: principalOfExtension(extension) };
    return writeIn(scope, write)({ mode: 'statement' }, async (unit) => {
      const id = await putEvent(unit.query, { event, data: payload, context });
      unit.due.add('wakeRelay');
      return id;
    });
  }),
});

/** Why an event name is reserved for the product; undefined for a free name. */
function findOwnerProblem(event: string, { findCollection }: DispatchDeps['schema']): string | undefined {
  if (event.startsWith('system.') || event === 'webhooks.test') return 'is a product event';
  const [, collection, verb] = /^([^.]*)\.([^.]*)$/.exec(event) ?? [];
  if (collection && ['create', 'update', 'delete'].includes(verb ?? '') && findCollection(collection))
    return `is an event in the collection ${collection}`;
  return undefined;
}
